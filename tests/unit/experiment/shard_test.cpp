#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/experiment/shard.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "model_of.hpp"

using namespace paretopipe;
using namespace paretopipe::experiment;

namespace {

/// Two models of five blocks at two batch sizes and three repetitions: 24 configurations.
std::vector<Trial> plan_to_divide() {
  Experiment experiment;
  experiment.models = {"a", "b"};
  experiment.batch = {1, 8};
  experiment.repeat.trials = 3;
  return plan_trials(experiment, {model_of("a", 5), model_of("b", 5)});
}

std::vector<std::string> ids(const std::vector<Trial>& trials) {
  std::vector<std::string> ids;
  for (const auto& trial : trials) ids.push_back(trial.id());
  return ids;
}

std::set<std::string> configurations(const std::vector<Trial>& trials) {
  std::set<std::string> ids;
  for (const auto& trial : trials) ids.insert(trial.configuration_id());
  return ids;
}

}  // namespace

TEST_CASE("a shard is its number and how many there are, and anything else is refused in a sentence", "[shard]") {
  CHECK(parse_shard("3/16") == Shard{3, 16});
  CHECK(parse_shard("1/1") == Shard{});
  CHECK(to_string(parse_shard("16/16")) == "16/16");
  for (const auto* text : {"0/4", "5/4", "-1/4", "x", "", "3", "/", "3/", "/4", "3/4/5", " 3/4", "3/4 ", "+3/4",
                           "1.5/4", "1/0", "1/99999999999", "1/100001"}) {
    CAPTURE(text);
    const auto message = support::message_of<UsageError>([&] { parse_shard(text); });
    CHECK(message.find("such as 3/16") != std::string::npos);
  }
}

TEST_CASE("every trial of a plan is in exactly one shard, with all repetitions of it and in the order of the plan",
          "[shard]") {
  const auto plan = plan_to_divide();
  REQUIRE(plan.size() == 72);
  for (const int count : {1, 2, 3, 5, 7, 16, 24, 25, 100}) {
    CAPTURE(count);
    std::map<std::string, int> shards;  // by configuration
    std::size_t trials = 0;
    for (int number = 1; number <= count; ++number) {
      const auto part = trials_of({number, count}, plan);
      trials += part.size();
      const auto own = configurations(part);
      for (const auto& id : own) CHECK(shards.emplace(id, number).second);
      std::vector<Trial> expected;
      std::copy_if(plan.begin(), plan.end(), std::back_inserter(expected),
                   [&](const auto& trial) { return own.count(trial.configuration_id()) > 0; });
      CHECK(part == expected);
    }
    CHECK(trials == plan.size());
    CHECK(shards.size() == 24);
  }
}

TEST_CASE("configurations are spread evenly, and no shard has one split in all groups", "[shard]") {
  const auto plan = plan_to_divide();
  for (const int count : {2, 5, 6, 7, 16, 30}) {
    CAPTURE(count);
    std::set<std::size_t> sizes;
    for (int number = 1; number <= count; ++number)
      sizes.insert(configurations(trials_of({number, count}, plan)).size());
    CHECK(*sizes.rbegin() - *sizes.begin() <= 1);
  }
  // With as many shards as a group has splits, dealing them out in turn would do that.
  for (int number = 1; number <= 6; ++number) {
    std::set<int> splits;
    for (const auto& trial : trials_of({number, 6}, plan)) splits.insert(trial.split_points.front());
    CHECK(splits.size() > 1);
  }
}

TEST_CASE("shards are the same whatever differs between machines, and on every platform and release", "[shard]") {
  const auto plan = plan_to_divide();
  auto elsewhere = plan;
  for (auto& trial : elsewhere) trial.cpus = {"6", "7"};
  const auto part = trials_of({2, 5}, plan);
  auto part_elsewhere = trials_of({2, 5}, elsewhere);
  for (auto& trial : part_elsewhere) trial.cpus.clear();
  CHECK(ids(part) == ids(part_elsewhere));

  std::vector<int> splits;
  for (const auto& trial : part) {
    if (trial.repetition == 0) splits.push_back(trial.split_points.front());
  }
  CHECK(splits == std::vector<int>{1, 0, 4, 2});
}
