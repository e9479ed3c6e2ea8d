#include <paretopipe/run/emulated_devices.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "evidence.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// Of the model whose block i has 2^i bytes of weights.
std::optional<record::Failure> refusal(std::vector<int> splits, const std::vector<std::optional<std::int64_t>>& limits,
                                       experiment::Placement placement = {},
                                       std::optional<experiment::Training> training = {}) {
  auto trial = trial_at(std::move(splits));
  trial.placement = std::move(placement);
  trial.training = std::move(training);
  for (const auto& limit : limits) {
    auto& profile = trial.devices.emplace_back();
    if (!limit) continue;
    profile.name = "tiny";
    profile.memory_limit_bytes = *limit;
  }
  return run::EmulatedDevices::too_small_for(trial, a_model());
}

}  // namespace

TEST_CASE(
    "a split whose share of the weights fits runs, and only the others fail, with the stage's name and both sizes") {
  constexpr std::int64_t kLimit = 0b11111;
  for (int split = 0; split <= 10; ++split) {
    CAPTURE(split);
    const auto refused = refusal({split}, {kLimit, std::nullopt});
    CHECK(refused.has_value() == (split > 5));
    if (!refused) continue;
    CHECK(refused->phase == "load");
    CHECK(refused->stage == 0);
    CHECK(contains(refused->reason, "stage 0 needs at least"));
    CHECK(contains(refused->reason, "memory limit of 31 B (device profile tiny)"));
  }
  CHECK(refusal({5}, {kLimit, kLimit})->stage == 1);
  CHECK_FALSE(refusal({5}, {std::nullopt, std::nullopt}).has_value());
}

TEST_CASE("stages of one device share its memory") {
  CHECK_FALSE(refusal({1, 9}, {1 + 512, std::nullopt}, {0, 1, 0}).has_value());
  const auto refused = refusal({1, 9}, {512, std::nullopt}, {0, 1, 0});
  REQUIRE(refused.has_value());
  CHECK_FALSE(refused->stage.has_value());
  CHECK(contains(refused->reason, "stage 0 and 2 needs at least 513 B"));
}

TEST_CASE("a device that trains needs memory for gradients and the optimiser's state, beside the weights") {
  using experiment::OptimizerKind;
  const auto trained_with = [](OptimizerKind kind, double momentum) {
    experiment::Training training;
    training.optimizer.kind = kind;
    training.optimizer.momentum = momentum;
    return training;
  };
  constexpr std::int64_t kWeights = 0b11111;  // of the blocks before split 5
  const auto needed_times = [&](const std::optional<experiment::Training>& training) {
    int times = 1;
    while (refusal({5}, {times * kWeights, std::nullopt}, {}, training)) ++times;
    CHECK(refusal({5}, {times * kWeights - 1, std::nullopt}, {}, training).has_value());
    return times;
  };
  CHECK(needed_times(std::nullopt) == 1);
  CHECK(needed_times(trained_with(OptimizerKind::sgd, 0)) == 2);
  CHECK(needed_times(trained_with(OptimizerKind::sgd, 0.9)) == 3);
  CHECK(needed_times(trained_with(OptimizerKind::adam, 0)) == 4);
  CHECK(needed_times(trained_with(OptimizerKind::adamw, 0)) == 4);
  CHECK(contains(refusal({5}, {kWeights, std::nullopt}, {}, trained_with(OptimizerKind::sgd, 0.9))->reason,
                 "stage 0 needs at least 93 B for the weights of its blocks, their gradients and momenta"));
}
