#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/run/finish_record.hpp>
#include <paretopipe/run/trial_requests.hpp>

#include <random>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "evidence.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using record::PhaseSamples;
using Shape = std::vector<std::int64_t>;

namespace {

void require_parts_to_add_up(const PhaseSamples& samples) {
  const auto breakdown = stats::breakdown(samples);
  for (std::size_t batch = 0; batch < breakdown.latency_ns.size(); ++batch) {
    std::int64_t sum = 0;
    for (const auto& part : breakdown.parts) sum += part.ns[batch];
    REQUIRE(sum == breakdown.latency_ns[batch]);
  }
}

}  // namespace

TEST_CASE("samples of one clock come to a time base that begins with the phase, and nothing else is done to them") {
  const auto record = run::finish_record(trial_at({3}), regular_evidence());
  CHECK(record.single_stream == regular_samples(kAlone, kWarmup + kBatches, kWarmup, 1));
  CHECK(record.offline == regular_samples(kLoaded, kWarmup + kBatches, kWarmup, 4));
  CHECK(record.clocks == std::vector<record::ClockRelation>(2));
  CHECK_FALSE(record::clock_error_ns(record, 0, 1).has_value());
}

TEST_CASE("samples of several clocks come to stage 0's, within the error that the record states") {
  const auto ahead = GENERATE(kHour, -kHour);
  const auto record = run::finish_record(trial_at({3}), regular_evidence(ahead));
  CHECK(record.status == record::Status::ok);
  REQUIRE(record.clocks.size() == 2);
  CHECK(record.clocks[0] == record::ClockRelation{});
  const auto& clock = record.clocks[1];
  CHECK_FALSE(clock.same_clock);
  // Headers take 1000 ns there and 500 back, but none passes at the very beginning and end.
  CHECK(clock.error_bound_ns >= 750);
  CHECK(clock.error_bound_ns < 800);
  CHECK(std::abs(clock.offset_before_ns + ahead) <= clock.error_bound_ns);
  CHECK(std::abs(clock.offset_after_ns + ahead) <= clock.error_bound_ns);
  REQUIRE(clock.drift_ppm.has_value());
  CHECK(clock.drift_ppm->front() < 0);
  CHECK(clock.drift_ppm->back() > 0);
  CHECK(record::clock_error_ns(record, 1, 0) == clock.error_bound_ns);
  const auto truth = regular_samples(kAlone, kWarmup + kBatches, kWarmup, 1);
  CHECK(record.single_stream->results == truth.results);
  CHECK(record.single_stream->stages[0] == truth.stages[0]);
  for (std::size_t i = 0; i < truth.results.completed.size(); ++i) {
    const auto moved = record.single_stream->stages[1].ready[i] - truth.stages[1].ready[i];
    REQUIRE(std::abs(moved) <= clock.error_bound_ns);
    REQUIRE(record.single_stream->stages[1].receive_begin[i] >= truth.stages[0].send_begin[i]);
    REQUIRE(record.single_stream->stages[1].send_begin[i] <= truth.results.receive_begin[i]);
  }
  CHECK(nlohmann::json(record).at("clocks").at(1).at("drift_ppm").size() == 2);
  CHECK(written_and_read(record) == record);
}

TEST_CASE("stages of another host share its clock, and a transfer between them has no clock error") {
  std::mt19937 random(12);
  const auto samples = [&] { return random_samples(random, 4, kWarmup + kBatches, kWarmup); };
  auto evidence = evidence_of(samples(), samples());
  for (const std::size_t stage : {1, 2}) {
    evidence.configured[stage].host.boot_id = "other host";
    for (auto phase : {&stage::RunReport::single_stream, &stage::RunReport::offline}) {
      evidence.reports[stage].*phase = shifted(evidence.reports[stage].*phase, kStageMoments, kHour);
    }
  }
  const auto record = run::finish_record(trial_at({2, 4, 7}), evidence);
  CHECK(record.status == record::Status::ok);
  CHECK(record.clocks[3].same_clock);
  CHECK(record::clock_error_ns(record, 0, 1) == record.clocks[1].error_bound_ns);
  CHECK_FALSE(record::clock_error_ns(record, 1, 2).has_value());
  CHECK_FALSE(record::clock_error_ns(record, 3, 0).has_value());
  require_parts_to_add_up(*record.single_stream);
}

TEST_CASE("a trial in which a clock was stepped is invalid, names the stage and says what to do") {
  auto evidence = regular_evidence(kHour);
  evidence.reports[1].offline = shifted(evidence.reports[1].offline, kStageMoments, 5'000'000);
  const auto record = run::finish_record(trial_at({3}), evidence);
  CHECK(record.status == record::Status::invalid);
  REQUIRE(record.failure.has_value());
  CHECK(record.failure->phase == "clocks");
  CHECK(record.failure->stage == 1);
  CHECK(support::contains(record.failure->reason, "The clock of stage 1 was stepped"));
  CHECK(support::contains(record.failure->reason, "repeat the trial with --resume"));
  CHECK(record.summary.has_value());
  CHECK(written_and_read(record) == record);
}

TEST_CASE("of the clocks round a ring, the one is named that was stepped") {
  std::mt19937 random(13);
  const auto samples = [&] { return random_samples(random, 3, kWarmup + kBatches, kWarmup); };
  const std::size_t stepped = GENERATE(1, 2);
  auto evidence = evidence_of(samples(), samples(), kHour);
  auto& moments = evidence.reports[stepped].offline;
  moments = shifted(moments, kStageMoments, 2'000'000'000);
  const auto record = run::finish_record(trial_at({2, 7}), evidence);
  CHECK(record.status == record::Status::invalid);
  REQUIRE(record.failure.has_value());
  CHECK(record.failure->stage == static_cast<int>(stepped));
}

TEST_CASE("a right output is an ok record, complete and derived from its own samples") {
  const auto trial = trial_at({3});
  const auto record = run::finish_record(trial, regular_evidence());
  CHECK(record.status == record::Status::ok);
  CHECK_FALSE(record.failure.has_value());
  CHECK(record.trial == trial);
  CHECK(record.fidelity == record::Fidelity{0, 1, 2 * (kWarmup + kBatches), 0, {}, 0.0});
  CHECK(record.summary == stats::summarise(*record.single_stream, *record.offline, trial.batch, record.links));
  CHECK(record.summary->latency->count == kBatches);
  CHECK(written_and_read(record) == record);
}

TEST_CASE("the record of a trial of one phase has that phase's samples and numbers, and none of the other's") {
  auto trial = trial_at({3});
  trial.phases = GENERATE(experiment::Phases::single_stream, experiment::Phases::offline);
  const bool alone = experiment::has_single_stream(trial.phases);
  CAPTURE(alone);
  for (const auto& request : run::make_run_requests(trial, a_model(), ends(), 1)) {
    CHECK(request.phases == trial.phases);
  }
  auto evidence = regular_evidence();
  for (auto& report : evidence.reports) {
    (alone ? report.offline : report.single_stream) = {};
    (alone ? report.offline_results : report.single_stream_results) = {};
  }
  const auto record = run::finish_record(trial, evidence);
  CHECK(record.status == record::Status::ok);
  CHECK(record.single_stream.has_value() == alone);
  CHECK(record.offline.has_value() != alone);
  CHECK(record.fidelity->batches_compared == kWarmup + kBatches);
  CHECK(record.summary->latency.has_value() == alone);
  CHECK(record.summary->breakdown.empty() != alone);
  CHECK(record.summary->throughput_image_per_s.has_value() != alone);
  CHECK(record.summary->latency_under_load.has_value() != alone);
  CHECK(record.summary->stages.empty() == alone);
  const nlohmann::json written = record;
  for (const auto* key : {"latency", "breakdown", "links"}) CHECK(written["summary"].contains(key) == alone);
  for (const auto* key : {"throughput_image_per_s", "latency_under_load", "stages"}) {
    CHECK(written["summary"].contains(key) != alone);
  }
  CHECK(written_and_read(record) == record);
}

TEST_CASE("optimized, a difference within the tolerance is kept and passes, and one beyond it fails") {
  auto trial = trial_at({3});
  trial.compute.compute = experiment::Compute::optimized;
  auto evidence = regular_evidence();
  auto& source = evidence.reports.front();
  source.largest_output = 20;
  const auto tolerance = 20 * trial.compute.relative_tolerance();
  source.max_abs_difference = tolerance;
  const auto kept = run::finish_record(trial, evidence);
  CHECK(kept.status == record::Status::ok);
  CHECK(kept.fidelity == record::Fidelity{tolerance, 1, 2 * (kWarmup + kBatches), tolerance, {}, 0.0});
  CHECK(written_and_read(kept) == kept);
  source.max_abs_difference = 1.01 * tolerance;
  const auto failed = run::finish_record(trial, evidence);
  CHECK(failed.status == record::Status::failed);
  CHECK(failed.failure->phase == "check");
  CHECK_FALSE(failed.summary.has_value());
  trial.compute.compute = experiment::Compute::eager;
  source.max_abs_difference = 1e-30;
  CHECK(run::finish_record(trial, evidence).status == record::Status::failed);
}

TEST_CASE(
    "on CPUs of several kinds, or LibTorches of several releases, eager outputs may differ by a tolerance, and "
    "otherwise by nothing") {
  const auto trial = trial_at({3});
  host::HostContext server, board;
  server.cpu_model = "AMD EPYC";
  board.cpu_model = "Cortex-A72";
  auto evidence = regular_evidence();
  evidence.reports.front().largest_output = 20;
  evidence.reports.front().max_abs_difference = 20 * 8.6e-7;
  evidence.unsplit.host = evidence.configured[0].host = server;
  evidence.configured[1].host = board;
  const auto mixed = run::finish_record(trial, evidence);
  CHECK(mixed.status == record::Status::ok);
  CHECK(mixed.fidelity->tolerance == 20 * trial.relative_tolerance(experiment::Cpus::of_several_kinds));
  evidence.configured[0].host = board;  // all stages alike, and only the unsplit model elsewhere
  CHECK(run::finish_record(trial, evidence).status == record::Status::ok);
  evidence.unsplit.host = board;
  const auto alike = run::finish_record(trial, evidence);
  CHECK(alike.status == record::Status::failed);
  CHECK(alike.fidelity->tolerance == 0);
  for (auto* process : {&evidence.unsplit, &evidence.configured[0]}) process->compute = {{"torch_version", "1.13.0"}};
  evidence.configured[1].compute = {{"torch_version", "2.6.0"}};
  CHECK(run::finish_record(trial, evidence).status == record::Status::ok);
}

TEST_CASE("accuracy is recorded where there are labels, and missing where there are none") {
  auto evidence = regular_evidence();
  CHECK_FALSE(run::finish_record(trial_at({3}), evidence).fidelity->accuracy.has_value());
  evidence.reports.front().accuracy = {0, 4};
  const auto record = run::finish_record(trial_at({3}), evidence);
  CHECK(record.fidelity->accuracy == Accuracy{0, 4});
  CHECK(nlohmann::json(record).at("fidelity").at("accuracy") == nlohmann::json{{"top1", 0.0}, {"images", 4}});
  CHECK(written_and_read(record) == record);
}

TEST_CASE("whatever the moments, the parts of every batch add up to its latency") {
  std::mt19937 random(11);
  for (const auto& splits : std::vector<std::vector<int>>{{10}, {3}, {0}, {2, 7}, {0, 5, 10}}) {
    const auto trial = trial_at(splits);
    const int stages = trial.all_local() ? 1 : trial.stage_count();
    const auto samples = [&] { return random_samples(random, stages, kWarmup + kBatches, kWarmup); };
    const auto record = run::finish_record(trial, evidence_of(samples(), samples()));
    require_parts_to_add_up(*record.single_stream);
    require_parts_to_add_up(*record.offline);
    CHECK(record.single_stream->stages.front().ready.front() == 0);
  }
}

TEST_CASE("the smallest difference of the output is a failure that says how large, and keeps what was measured") {
  auto evidence = regular_evidence();
  evidence.reports.front().max_abs_difference = 1e-45;
  evidence.reports.front().top1_agreement = 0.975;
  const auto record = run::finish_record(trial_at({3}), evidence);
  CHECK(record.status == record::Status::failed);
  CHECK(record.failure->phase == "check");
  CHECK_FALSE(record.failure->stage.has_value());
  CHECK(support::contains(record.failure->reason, "by up to 1e-45 (top-1 agreement 97.5 %)"));
  CHECK_FALSE(record.summary.has_value());
  CHECK(record.offline.has_value());
  CHECK(written_and_read(record) == record);
}

TEST_CASE("each stage is reported with its own blocks, and an unreadable peak is missing") {
  const auto record = run::finish_record(trial_at({3}), regular_evidence());
  REQUIRE(record.stages.size() == 2);
  CHECK(record.stages[0].blocks == experiment::BlockRange{0, 3});
  CHECK(record.stages[1].blocks == experiment::BlockRange{3, 10});
  CHECK(record.stages[0].last_block == "block.2");
  CHECK(record.stages[1].last_block == "block.9");
  CHECK(record.stages[0].parameter_bytes == 0b111);
  CHECK(record.stages[1].parameter_bytes == 0b1111111000);
  CHECK(record.stages[0].held_parameter_bytes == 5000);
  CHECK_FALSE(record.stages[0].peak_rss_bytes.has_value());
  CHECK(record.stages[1].peak_rss_bytes == 1'000'000);
  CHECK_FALSE(record.stages[0].memory.has_value());
  CHECK(record.stages[1].memory == host::StageMemory{100, 20, 3});
  CHECK_FALSE(record.stages[0].gpu.has_value());
  CHECK(record.stages[1].gpu == host::GpuUsage{0.25, 4});
  CHECK(record.stages[1].cpus == "1");
  CHECK(record.stages[1].usage.minor_page_faults == 3);
}

TEST_CASE("each stage is reported with its own graph, and with none where it had nothing to prepare") {
  auto evidence = regular_evidence();
  evidence.prepared = {{Preparation{true, 1, 2, 3, 4, 5}}, {}};
  const auto stages = run::finish_record(trial_at({3}), evidence).stages;
  CHECK(stages[0].prepared == Preparation{true, 1, 2, 3, 4, 5});
  CHECK_FALSE(stages[1].prepared.has_value());
  CHECK_FALSE(run::finish_record(trial_at({3}), regular_evidence()).stages[0].prepared.has_value());
}

TEST_CASE("the links carry what the model emits at each cut, and the result back") {
  std::mt19937 random(3);
  const auto links_of = [&](const std::vector<int>& splits, int stages) {
    const auto samples = random_samples(random, stages, kWarmup + kBatches, kWarmup);
    return run::finish_record(trial_at(splits), evidence_of(samples, samples)).links;
  };
  using Links = std::vector<record::LinkPayload>;
  CHECK(links_of({3}, 2) == Links{{0, 1, 96, 64}, {1, 0, 320, 64}});
  CHECK(links_of({0}, 2) == Links{{0, 1, 1536, 64}, {1, 0, 320, 64}});
  CHECK(links_of({10}, 1).empty());
  CHECK(links_of({2, 7}, 3) == Links{{0, 1, 64, 64}, {1, 2, 224, 64}, {2, 0, 320, 64}});
}

TEST_CASE(
    "of batches in micro-batches the samples are the micro-batches', and a link's bytes those of all of a batch's") {
  auto trial = trial_at({3});
  trial.micro_batch = 8;
  trial.batch = 24;
  const auto samples = [](const Durations& durations) {
    return micro_batched(regular_samples(durations, 3 * (kWarmup + kBatches), kWarmup, 1), 3);
  };
  const auto record = run::finish_record(trial, evidence_of(samples(kAlone), samples(kLoaded)));
  REQUIRE(record.status == record::Status::ok);
  CHECK(record.single_stream == samples(kAlone));
  CHECK(record.links == std::vector<record::LinkPayload>{{0, 1, 3 * 96, 3 * 64}, {1, 0, 3 * 320, 3 * 64}});
  CHECK(record.summary->latency->count == kBatches);
  CHECK(record.summary->throughput_image_per_s.value() == Approx(24 / 30e-6));
  CHECK(record.fidelity->batches_compared == 2 * (kWarmup + kBatches));
  require_parts_to_add_up(*record.single_stream);
  CHECK(written_and_read(record) == record);
  const auto requests = run::make_run_requests(trial, a_model(), ends(), 1);
  for (const auto& request : requests) CHECK(request.micro_batches == 3);
  CHECK(requests[1].incoming.at(0).shape == Shape{8, 3});
}

TEST_CASE("reports of other micro-batches than the trial's are refused") {
  auto trial = trial_at({3});
  trial.micro_batch = 2;  // four micro-batches a batch, and each was handed over by itself
  CHECK_THROWS_AS(run::finish_record(trial, regular_evidence()), Error);
}

TEST_CASE("reports that lack batches are refused, whichever stage and phase they are of") {
  for (const auto phase : {&stage::RunReport::single_stream, &stage::RunReport::offline}) {
    for (const std::size_t stage : {0, 1}) {
      CAPTURE(stage);
      auto evidence = regular_evidence();
      (evidence.reports[stage].*phase).compute_end.pop_back();
      CHECK_THROWS_AS(run::finish_record(trial_at({3}), evidence), Error);
      evidence.reports[stage].*phase = {};
      CHECK_THROWS_AS(run::finish_record(trial_at({3}), evidence), Error);
    }
  }
  auto evidence = regular_evidence();
  evidence.reports.front().offline_results = {};
  CHECK_THROWS_AS(run::finish_record(trial_at({3}), evidence), Error);
}

TEST_CASE("a trial that did not run is a record with its reason and nothing else") {
  auto evidence = regular_evidence();
  evidence.failure = record::Failure{"load", 1, "killed"};
  const auto record = run::finish_record(trial_at({3}), evidence);
  CHECK(record.status == record::Status::failed);
  CHECK(record.failure == record::Failure{"load", 1, "killed"});
  CHECK_FALSE(record.single_stream.has_value());
  CHECK(record.stages.empty());
  CHECK_FALSE(record.fidelity.has_value());
  CHECK(written_and_read(record) == record);
}

TEST_CASE("a trial over a network that deviates is invalid: its samples are kept, with the reason") {
  auto trial = trial_at({4});
  trial.shaping = experiment::Shaping::emulated;
  const auto over = [&](const experiment::NetworkEvidence& network) {
    auto evidence = regular_evidence();
    evidence.network = network;
    return run::finish_record(trial, evidence);
  };
  experiment::NetworkEvidence network;
  CHECK(over(network).status == record::Status::ok);
  network.deviations = {"The round trip is 23 ms.", "The rate is 3 Mbit/s."};
  const auto record = over(network);
  CHECK(record.status == record::Status::invalid);
  CHECK(record.failure->phase == "network");
  CHECK(record.failure->reason == "The round trip is 23 ms. The rate is 3 Mbit/s.");
  CHECK(record.summary.has_value());
  CHECK(record.network == network);
  CHECK(nlohmann::json(record).get<record::TrialRecord>() == record);
}

TEST_CASE("a wrong output over a network that deviates is a failure, and the network is recorded all the same") {
  auto evidence = regular_evidence();
  evidence.network.emplace().deviations = {"The round trip is 23 ms."};
  evidence.reports.front().max_abs_difference = 1;
  const auto record = run::finish_record(trial_at({3}), evidence);
  CHECK(record.status == record::Status::failed);
  CHECK(record.failure->phase == "check");
  CHECK_FALSE(record.summary.has_value());
  CHECK(record.network == evidence.network);
}

TEST_CASE("a record that is set aside keeps what was measured, with the reasons why it does not count") {
  const auto before = run::finish_record(trial_at({3}), regular_evidence());
  const auto record = run::set_aside(before, {"stage 0 waited", "stage 1 was slow"});
  CHECK(record.status == record::Status::invalid);
  CHECK(record.failure == record::Failure{"conditions", std::nullopt,
                                          "measured in a slow window, and again: stage 0 waited; stage 1 was slow"});
  CHECK(record.summary == before.summary);
}

TEST_CASE("a stage is reported with its emulated device, and the record with what produced it") {
  auto evidence = regular_evidence();
  evidence.devices[1] = record::EmulatedDevice{"tiny", 1};
  evidence.provenance.version = "1.2.3";
  const auto record = run::finish_record(trial_at({3}), evidence);
  CHECK_FALSE(record.stages[0].emulated_device.has_value());
  CHECK(record.stages[1].emulated_device == evidence.devices[1]);
  CHECK(record.provenance == evidence.provenance);
}

TEST_CASE("how far the unsplit model is from eager mode is in the record of every trial that was compared with it") {
  auto evidence = regular_evidence();
  evidence.unsplit_against_eager = UnsplitFidelity{1e-6, 1, 8, 1e-4};
  const auto record = run::finish_record(trial_at({3}), evidence);
  CHECK(record.fidelity->unsplit_against_eager == evidence.unsplit_against_eager);
}
