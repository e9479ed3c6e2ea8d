// What the driver asks of devices that batches are dealt out to, and the record that it makes of their answers.
#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/run/finish_record.hpp>
#include <paretopipe/run/trial_requests.hpp>

#include <support/catch.hpp>

#include "../stats/dealt_samples.hpp"
#include "evidence.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

constexpr int kDealtWarmup = 2;
constexpr int kDealtBatches = 9;
constexpr int kPhase = kDealtWarmup + kDealtBatches;
constexpr std::int64_t kDay = 86'400'000'000'000;

experiment::Trial a_trial(int devices) {
  auto trial = make_dealt_trial(devices);
  trial.warmup = kDealtWarmup;
  trial.batches = kDealtBatches;
  return trial;
}

/// As the source reports them: of its own batches what it did with them, of the others when it sent them.
StageTimeline as_source(const record::PhaseSamples& samples) {
  auto timeline = samples.stages[0];
  for (std::size_t batch = 0; batch < timeline.ready.size(); ++batch) {
    if (batch % static_cast<std::size_t>(samples.devices) != 0) continue;
    for (const auto member : kStageMoments) (timeline.*member)[batch] = (samples.stages[1].*member)[batch];
  }
  return timeline;
}

/// What devices would report that had seen these samples: all on one clock, or each but the source on one of its own.
run::TrialEvidence evidence_of(const record::PhaseSamples& samples, std::int64_t ahead = 0) {
  run::TrialEvidence evidence;
  evidence.model = a_model();
  evidence.devices.resize(static_cast<std::size_t>(samples.devices));
  for (int device = 0; device < samples.devices; ++device) {
    const auto offset = device * ahead;
    stage::RunReport report;
    if (device == 0) {
      report.single_stream = report.offline = as_source(samples);
      report.single_stream_results = report.offline_results = samples.results;
    } else {
      report.offline = shifted(stats::of_device(samples, device).stages[1], kStageMoments, offset);
      report.single_stream = report.offline;
    }
    evidence.reports.push_back(report);
    auto& configured = evidence.configured.emplace_back();
    configured.host.boot_id = ahead == 0 ? "one host" : "host " + std::to_string(device);
  }
  return evidence;
}

}  // namespace

TEST_CASE("the source deals out all batches, and every other device is told of its share") {
  const auto requests = run::make_run_requests(a_trial(3), a_model(), ends(), 7);
  REQUIRE(requests.size() == 3);
  for (int device = 0; device < 3; ++device) {
    const auto& request = requests[static_cast<std::size_t>(device)];
    CHECK(request.tag == 7);
    CHECK(request.blocks == experiment::BlockRange{0, 10});
    CHECK(request.devices == 3);
    CHECK(request.device == device);
    CHECK(request.depth == 4);
  }
  CHECK(requests[0].incoming == stage::Boundary{ends().result});
  CHECK(requests[0].warmup == kDealtWarmup);
  CHECK(requests[0].batches == kDealtBatches);
  CHECK(requests[1].incoming == stage::Boundary{ends().input});
  CHECK(requests[1].stage_count == 2);
  CHECK(requests[1].total_batches() == 2 * 4);  // of 11: numbers 1, 4, 7 and 10
  CHECK(requests[2].total_batches() == 2 * 3);
  const auto prepared = run::make_prepare_requests(requests, ends());
  for (const auto& request : prepared) CHECK(request.incoming == stage::Boundary{ends().input});
}

TEST_CASE("the record has every batch's way to its device and back in one time base, and survives being written") {
  const int devices = GENERATE(2, 3, 4);
  const auto samples = dealt_samples({.devices = devices, .batches = kPhase, .warmup = kDealtWarmup});
  const auto trial = a_trial(devices);
  const auto record = run::finish_record(trial, evidence_of(samples));
  REQUIRE(record.status == record::Status::ok);
  CHECK(record.offline->devices == devices);
  CHECK(record.offline->stages == samples.stages);
  CHECK(record.offline->results == samples.results);
  REQUIRE(record.stages.size() == static_cast<std::size_t>(devices));
  for (const auto& stage : record.stages) CHECK(stage.blocks == experiment::BlockRange{0, 10});
  CHECK(record.links.size() == 2 * record.stages.size() - 2);
  CHECK(record.links.front().payload_bytes == 1536);
  CHECK(record.links.back() == record::LinkPayload{devices - 1, 0, 320, record.links.front().header_bytes});
  CHECK(record.summary->stages.size() == record.stages.size());
  CHECK_NOTHROW(stats::check_summary(record));
  CHECK(nlohmann::json(record).at("offline").at("devices") == devices);
  CHECK(written_and_read(record) == record);
}

TEST_CASE("devices with clocks of their own are aligned by their own links, as well as the links allow") {
  const int devices = GENERATE(2, 3, 4);
  const auto samples = dealt_samples({.devices = devices, .batches = kPhase, .warmup = kDealtWarmup});
  const auto record = run::finish_record(a_trial(devices), evidence_of(samples, kDay));
  REQUIRE(record.status == record::Status::ok);
  CHECK(record.offline->results == samples.results);
  for (int device = 1; device < devices; ++device) {
    const auto& clock = record.clocks[static_cast<std::size_t>(device)];
    CHECK(clock.error_bound_ns >= 3000);  // half of there and back
    CHECK(clock.error_bound_ns < 3200);
    CHECK(std::abs(clock.offset_before_ns + device * kDay) <= clock.error_bound_ns);
  }
  for (std::size_t entry = 0; entry < samples.results.completed.size(); ++entry) {
    REQUIRE(record.offline->stages[1].receive_begin[entry] >= record.offline->stages[0].send_begin[entry]);
    REQUIRE(record.offline->stages[1].send_begin[entry] <= record.offline->results.receive_begin[entry]);
  }
}

TEST_CASE("a device whose clock is stepped makes the trial invalid") {
  const auto samples = dealt_samples({.devices = 3, .batches = kPhase, .warmup = kDealtWarmup});
  auto evidence = evidence_of(samples, kDay);
  auto& moments = evidence.reports[2].offline;
  moments = shifted(moments, kStageMoments, 30'000);
  const auto record = run::finish_record(a_trial(3), evidence);
  CHECK(record.status == record::Status::invalid);
  CHECK(record.failure->stage == 2);
}

TEST_CASE("a device that reports another number of batches than it was dealt is an error, and no record") {
  auto evidence = evidence_of(dealt_samples({.devices = 3, .batches = kPhase, .warmup = kDealtWarmup}));
  for (const auto member : kStageMoments) (evidence.reports[2].offline.*member).pop_back();
  CHECK_THROWS_WITH(run::finish_record(a_trial(3), evidence),
                    "device 2 reported 2 of the 3 micro-batches that it was dealt");
}
