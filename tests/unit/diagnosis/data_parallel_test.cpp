// What is said of the baseline that splits nothing, and of splits against it.
#include <paretopipe/diagnosis/render.hpp>
#include <paretopipe/diagnosis/sentences.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../stats/dealt_samples.hpp"
#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// Two devices at 800 image/s beside the splits of a slow link, the fastest of which reaches 727.
std::vector<record::TrialRecord> sweep_with_baseline(int depth = 4) {
  auto records = slow_link_sweep();
  auto trial = records.front().trial;
  trial.split_points.clear();
  trial.data_parallel = 2;
  if (depth != trial.depth) {
    for (auto& record : records) record.trial.depth = depth;
  }
  trial.depth = depth;
  records.push_back(dealt_record(trial, {.devices = 2, .batches = 70, .warmup = 10}));
  records.back().summary->throughput_image_per_s = 800;
  return records;
}

std::string said_of(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  return fmt::format("{}", fmt::join(sentences(group, one), " "));
}

}  // namespace

TEST_CASE("data parallelism is described, and it is said that nothing more is diagnosed") {
  const auto groups = diagnose_all(sweep_with_baseline());
  REQUIRE(groups.size() == 1);
  const auto& baseline = groups.front().configurations.back();
  REQUIRE(baseline.trial().data_parallel == 2);
  CHECK_FALSE(baseline.demands.has_value());
  const auto text = said_of(groups.front(), baseline);
  INFO(text);
  CHECK(contains(text, "The whole model on each of 2 devices, batches dealt out in turn, gives 800 image/s."));
  CHECK(contains(text, "Its mean latency with one batch in flight is"));
  CHECK(contains(text, "One device alone gives 400 image/s, so this is 2.00 times as fast."));
  CHECK(contains(text, "What bounds it is not diagnosed"));
  CHECK_FALSE(contains(text, "work at a time"));
  CHECK_FALSE(contains(text, "bottleneck"));
}

TEST_CASE("too little in flight for every device is said") {
  const auto groups = diagnose_all(sweep_with_baseline(1));
  CHECK(contains(said_of(groups.front(), groups.front().configurations.back()),
                 "With 1 in flight no more than 1 of its devices work at a time."));
}

TEST_CASE("every split is set against data parallelism, which is not the fastest split itself") {
  const auto groups = diagnose_all(sweep_with_baseline());
  const auto& group = groups.front();
  const auto text = said_of(group, *group.measured({5}));
  INFO(text);
  CHECK(contains(text,
                 "The whole model on each of 2 devices, batches dealt out in turn, gives 800 image/s; this is 0.91 "
                 "times as fast."));
  CHECK(contains(conclusion(group), "The highest throughput measured is 727 image/s"));
  const auto json = nlohmann::json::parse(render_json(groups)).at("groups").at(0).at("configurations");
  for (const auto& one : json) {
    const bool split = !one.at("split_points").empty();
    CHECK(one.contains("bottleneck") == split);
    CHECK(one.contains("speed_up_data_parallel") == split);
  }
  CHECK(json.back().at("label") == "data-parallel on 2 devices");
}
