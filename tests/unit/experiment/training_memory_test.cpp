#include <paretopipe/experiment/training_memory.hpp>

#include <support/catch.hpp>

namespace paretopipe::experiment {
namespace {

const PartMemory kPart{.parameters = 1000,
                       .optimizer = 800,
                       .gradients = 90,
                       .stashed = 10,
                       .most_forward = 15,
                       .most_first_backward = 95,
                       .most_backward = 20,
                       .most_update = 5};

StageNeed need(Schedule schedule, int stages, int stage, const PartMemory& part = kPart) {
  return predict_memory(actions_of(schedule, {stages, 4, 2}, stage), part);
}

}  // namespace

TEST_CASE("a stage needs its weights, its optimiser's state and what lives at the worst moment of its schedule") {
  // All four are stashed; the second backward adds to gradients beside three.
  const auto gpipe = need(Schedule::gpipe, 2, 0);
  CHECK(gpipe.in_flight == 4);
  CHECK(gpipe.versions == 1);
  CHECK(gpipe.peak == 1800 + 3 * 10 + 90 + 20);

  const auto last = need(Schedule::one_f_one_b, 2, 1);
  CHECK(last.in_flight == 1);
  CHECK(last.peak == 1800 + 10 + 90 + 20);
  CHECK(need(Schedule::one_f_one_b, 2, 0).peak == 1800 + 2 * 10 + 90 + 20);
}

TEST_CASE("without flushes a stage holds a copy of its weights for what is in flight") {
  const auto first = need(Schedule::pipedream, 2, 0);
  CHECK(first.in_flight == 2);
  CHECK(first.versions == 2);
  CHECK(first.peak == 1800 + 2 * 10 + 90 + 95);
  const auto last = need(Schedule::pipedream, 2, 1);
  CHECK(last.versions == 1);
  CHECK(last.peak == 1800 + 10 + 95);
}

TEST_CASE("what a forward needs for a moment counts once, however many are in flight") {
  auto part = kPart;
  part.most_forward = 500;
  CHECK(need(Schedule::gpipe, 2, 0, part).peak == 1800 + 3 * 10 + 500);
}

}  // namespace paretopipe::experiment
