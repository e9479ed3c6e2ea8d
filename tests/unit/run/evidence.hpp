#pragma once
#include <paretopipe/run/finish_record.hpp>

#include <string>
#include <utility>
#include <vector>

#include "../stats/samples.hpp"

/// A model of ten blocks, what its stages report, and records.
namespace paretopipe::testing {

inline constexpr int kWarmup = 2;
inline constexpr int kBatches = 8;
inline const Durations kAlone{5000, 4000, 3000, 2000, 50'000};
inline const Durations kLoaded{5000, 4000, 3000, 2000, 10'000};

inline experiment::ModelDescription a_model() {
  experiment::ModelDescription model{"resnet18", 8, {8, 3, 4, 4}, 1536, {}};
  std::int64_t size = 1;
  for (int block = 0; block < 10; ++block, ++size) {
    model.blocks.push_back({"block." + std::to_string(block), {8, size}, 32 * size, 0, std::int64_t{1} << block, 0});
  }
  return model;
}

inline stage::Ends ends() {
  return {{wire::DType::float32, wire::MemoryFormat::channels_last, {8, 3, 4, 4}},
          {wire::DType::float32, wire::MemoryFormat::contiguous, {8, 10}}};
}

inline experiment::Trial trial_at(std::vector<int> splits) {
  auto trial = make_trial(splits.front());
  trial.split_points = std::move(splits);
  return trial;
}

template <class Timeline, class Moments>
Timeline shifted(Timeline timeline, const Moments& members, std::int64_t by) {
  for (const auto member : members) {
    for (auto& moment : timeline.*member) moment += by;
  }
  return timeline;
}

inline constexpr std::int64_t kHour = 3'600'000'000'000;

/// What stages would report that had seen these samples, some time after the host's start: all on one clock, or stage i
/// on one of its own, i times `ahead` ahead of stage 0's.
inline run::TrialEvidence evidence_of(const record::PhaseSamples& single_stream, const record::PhaseSamples& offline,
                                      std::int64_t ahead = 0) {
  constexpr std::int64_t kStart = 7'000'000'000'123;
  constexpr std::int64_t kSecond = 1'000'000'000;
  run::TrialEvidence evidence;
  evidence.model = a_model();
  evidence.devices.resize(single_stream.stages.size());
  for (std::size_t i = 0; i < single_stream.stages.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(i) * ahead;
    stage::RunReport report;
    report.single_stream = shifted(single_stream.stages[i], kStageMoments, kStart + offset);
    report.offline = shifted(offline.stages[i], kStageMoments, kStart + kSecond + offset);
    if (i == 0) {
      report.single_stream_results = shifted(single_stream.results, kResultMoments, kStart);
      report.offline_results = shifted(offline.results, kResultMoments, kStart + kSecond);
    }
    report.peak_rss_bytes = i == 0 ? 0 : 1'000'000;
    if (i == 1) report.gpu = {0.25, 4};
    if (i == 1) report.memory = {100, 20, 3};
    report.held_parameter_bytes = 5000;
    report.usage.minor_page_faults = 3;
    evidence.reports.push_back(report);
    stage::Configured configured;
    configured.cpus = std::to_string(i);
    configured.compute = {{"threads", 1}};
    configured.host.boot_id = ahead == 0 ? "one host" : "host " + std::to_string(i);
    evidence.configured.push_back(configured);
  }
  return evidence;
}

inline run::TrialEvidence regular_evidence(std::int64_t ahead = 0) {
  return evidence_of(regular_samples(kAlone, kWarmup + kBatches, kWarmup, 1),
                     regular_samples(kLoaded, kWarmup + kBatches, kWarmup, 4), ahead);
}

/// The record as whoever reads its JSON has it.
inline record::TrialRecord written_and_read(const record::TrialRecord& record) {
  return nlohmann::json::parse(nlohmann::json(record).dump()).get<record::TrialRecord>();
}

/// An ok record that has the two numbers by which splits are compared, and nothing else.
inline record::TrialRecord record_with(const experiment::Trial& trial, double latency_ns,
                                       double throughput_image_per_s) {
  record::TrialRecord record;
  record.trial = trial;
  record.summary.emplace();
  record.summary->latency.emplace().p50_ns = latency_ns;
  record.summary->throughput_image_per_s = throughput_image_per_s;
  return record;
}

}  // namespace paretopipe::testing
