#include <paretopipe/analysis/diagnosis/bounds.hpp>

#include <random>

#include <support/catch.hpp>

#include "simulated.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::testing;

namespace {

struct Known {
  std::string what;
  Pipeline pipeline;
  Kind kind;
  int stage;
  double period_ns;
};

constexpr std::int64_t kMs = 1'000'000;

const std::vector<Known> kKnown{
    {"first stage", {.compute = {5 * kMs, kMs}, .link = {kMs, 100}, .delay = {0, 0}}, Kind::compute, 0, 5e6},
    {"last stage",
     {.compute = {kMs, kMs, 5 * kMs}, .link = {kMs, kMs, 100}, .delay = {0, 0, 0}},
     Kind::compute,
     2,
     5e6},
    {"first link", {.compute = {kMs, 2 * kMs}, .link = {6 * kMs, 100}, .delay = {0, 0}}, Kind::link, 0, 6e6},
    {"second link",
     {.compute = {kMs, 2 * kMs, kMs}, .link = {kMs, 6 * kMs, 100}, .delay = {kMs, kMs, kMs}, .depth = 16},
     Kind::link,
     1,
     6e6},
    {"way back", {.compute = {kMs, 2 * kMs}, .link = {100, 4 * kMs}, .delay = {0, 0}}, Kind::way_back, 1, 4e6},
    {"source",
     {.compute = {kMs, 2 * kMs}, .link = {100, 100}, .delay = {0, 0}, .source = 3 * kMs},
     Kind::source,
     0,
     3e6},
    {"one in flight",
     {.compute = {2 * kMs, 3 * kMs}, .link = {4 * kMs, kMs}, .delay = {0, 0}, .depth = 1},
     Kind::depth,
     0,
     10e6},
    {"few in flight over long links",
     {.compute = {2 * kMs, 3 * kMs}, .link = {kMs, kMs}, .delay = {100 * kMs, 93 * kMs}, .depth = 4},
     Kind::depth,
     0,
     50e6},
    {"only stage", {.compute = {5 * kMs}, .source = kMs, .depth = 1}, Kind::compute, 0, 6e6},
    {"source of the only stage", {.compute = {kMs}, .source = 5 * kMs}, Kind::source, 0, 6e6},
    {"codec",
     {.compute = {kMs, 2 * kMs}, .link = {kMs, 100}, .delay = {0, 0}, .codec = {4 * kMs, 0}},
     Kind::codec,
     0,
     4e6},
};

Pipeline random_pipeline(std::mt19937& random, int stages) {
  const auto times = [&](std::size_t count, std::int64_t most) {
    std::vector<std::int64_t> values(count);
    for (auto& value : values) value = std::uniform_int_distribution<std::int64_t>(0, most)(random);
    return values;
  };
  const auto count = static_cast<std::size_t>(stages);
  Pipeline pipeline{.compute = times(count, 10 * kMs), .link = times(count, 10 * kMs), .source = times(1, kMs)[0]};
  pipeline.compute[0] += 1000;
  pipeline.delay.assign(count, times(1, 20 * kMs)[0]);  // read back is one delay for all links forward
  pipeline.depth = std::uniform_int_distribution(1, 3 * stages)(random);
  if (stages > 1 && random() % 2 == 0) pipeline.codec = times(count, 10 * kMs);
  if (stages == 1) pipeline.link = pipeline.delay = {};
  // Batches come in bunches of the depth: only over whole bunches is their rate the bound's.
  pipeline.warmup = 20 * pipeline.depth - 1;
  pipeline.batches = 40 * pipeline.depth + 1;
  return pipeline;
}

}  // namespace

TEST_CASE("the bottleneck and its bound are those that the pipeline was made with") {
  for (const auto& known : kKnown) {
    INFO(known.what);
    const auto demands = demands_of(record_of(known.pipeline));
    const auto bottleneck = constraints(demands).front();
    CHECK(to_string(bottleneck.kind) == to_string(known.kind));
    CHECK(bottleneck.stage == known.stage);
    CHECK(bottleneck.period_ns == Approx(known.period_ns));
    CHECK(throughput_at(demands, bottleneck.period_ns) == Approx(8e9 / known.period_ns));
    CHECK(reached(demands) == Approx(1).epsilon(0.02));
  }
}

TEST_CASE("pipelines whose batches are all alike run at their bound, whatever they are made of") {
  std::mt19937 random(2026);
  for (int i = 0; i < 60; ++i) {
    const auto pipeline = random_pipeline(random, 1 + i % 8);
    const auto demands = demands_of(record_of(pipeline));
    INFO("pipeline " << i << ": " << to_string(constraints(demands).front().kind) << ", depth " << pipeline.depth);
    CHECK(reached(demands) == Approx(1).epsilon(1e-6));
    CHECK(demands.unqueued_ns() <= demands.in_flight * demands.period_ns() * (1 + 1e-6));
  }
}

TEST_CASE("no pipeline runs beyond its bound where batches differ, and Little's law holds") {
  std::mt19937 random(4711);
  std::uniform_real_distribution<double> scatter(0.3, 1.7);
  for (int i = 0; i < 40; ++i) {
    auto pipeline = random_pipeline(random, 2 + i % 5);
    pipeline.scatter = [&] { return scatter(random); };
    const auto record = record_of(pipeline);
    const auto demands = demands_of(record);
    INFO("pipeline " << i << ", depth " << pipeline.depth);
    CHECK(reached(demands) < 1.05);
    const auto in_flight = (record.summary->latency_under_load->mean_ns + *demands.source_ns) / demands.period_ns();
    CHECK(in_flight == Approx(demands.in_flight).epsilon(0.05));
  }
}

TEST_CASE("micro-batches of a batch overlap, and the bound knows by how much") {
  Pipeline pipeline{.compute = {2'000'000, 8'000'000, 4'000'000},
                    .link = {1'000'000, 1'000'000, 0},
                    .delay = {5'000'000, 5'000'000, 5'000'000},
                    .depth = 1};
  for (const int micro_batches : {1, 2, 4, 8}) {
    pipeline.micro_batches = micro_batches;
    const auto demands = demands_of(record_of(pipeline));
    INFO(micro_batches << " micro-batches");
    CHECK(demands.stages[1].busy.mean_ns == Approx(8e6));
    CHECK(demands.stages[1].idle_compute_ns == Approx(8e6));
    CHECK(demands.links[0].busy.mean_ns == Approx(1e6));
    CHECK(constraints(demands).front().kind == Kind::depth);
    CHECK(demands.period_ns() == Approx(15e6 + (16e6 + (micro_batches - 1) * 8e6) / micro_batches));
    CHECK(reached(demands) == Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("no pipeline of micro-batches runs beyond its bound, and with one batch in flight it runs at it") {
  std::mt19937 random(2027);
  for (int i = 0; i < 60; ++i) {
    auto pipeline = random_pipeline(random, 2 + i % 7);
    pipeline.micro_batches = 1 << (1 + i % 3);
    if (i % 2 == 0) pipeline.depth = 1;
    const auto demands = demands_of(record_of(pipeline));
    INFO("pipeline " << i << ", depth " << pipeline.depth << ", " << pipeline.micro_batches << " micro-batches");
    CHECK(reached(demands) < 1 + 1e-6);
    if (pipeline.depth == 1) CHECK(reached(demands) == Approx(1).epsilon(1e-3));
  }
}

TEST_CASE("the sufficient depth is the first at which a part is the bottleneck") {
  auto pipeline = kKnown[7].pipeline;
  const auto depth = sufficient_depth(demands_of(record_of(pipeline)));
  REQUIRE(depth == 67);  // 200 ms / 3 ms
  pipeline.depth = *depth;
  CHECK(constraints(demands_of(record_of(pipeline))).front().kind == Kind::compute);
  --pipeline.depth;
  CHECK(constraints(demands_of(record_of(pipeline))).front().kind == Kind::depth);
  Demands instant{.throughput_image_per_s = 1, .stages = {{}, {}}, .links = {{0, 1}, {1, 0}}};
  instant.links[0].delay_ns = 1e6;
  CHECK(constraints(instant).front().kind == Kind::depth);
  CHECK_FALSE(sufficient_depth(instant).has_value());  // where nothing takes time
  CHECK_FALSE(next_constraint(instant).has_value());
}

TEST_CASE(
    "the next bound is what is measured without the bottleneck, and every part is among the constraints, in order") {
  const auto next_of = [](const Pipeline& pipeline) { return next_constraint(demands_of(record_of(pipeline))); };
  auto pipeline = kKnown[2].pipeline;
  const auto next = next_of(pipeline);
  REQUIRE(next.has_value());
  CHECK(next->kind == Kind::compute);
  CHECK(next->stage == 1);
  pipeline.link[0] = 0;
  CHECK(demands_of(record_of(pipeline)).period_ns() == Approx(next->period_ns));

  auto deep = kKnown[6].pipeline;
  const auto next_of_depth = next_of(deep);
  deep.depth = 3;
  REQUIRE(next_of_depth.has_value());
  CHECK(demands_of(record_of(deep)).period_ns() == Approx(next_of_depth->period_ns));
  CHECK_FALSE(next_of(kKnown[8].pipeline).has_value());
  const auto all = constraints(demands_of(record_of(kKnown[1].pipeline)));
  CHECK(all.size() == 3 + 3 + 1 + 1);
  CHECK(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.period_ns > b.period_ns; }));
}
