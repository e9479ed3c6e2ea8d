#pragma once
#include <paretopipe/run/finish_record.hpp>

#include <string>
#include <utility>
#include <vector>

#include "../stats/samples.hpp"

/// A model of ten blocks, and what its stages report.
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

/// An exchange at `time` with a peer whose clock is `offset` ahead.
inline run::ClockExchange exchange(std::int64_t time, std::int64_t offset) {
  return {time, time + 10 + offset, time + 15 + offset, time + 25};
}

/// What stages would report that had seen these samples: stage i on a clock of its own, i hours ahead of the driver's,
/// some time after the host's start. Stage 0 has the driver's.
inline run::TrialEvidence evidence_of(const record::PhaseSamples& single_stream, const record::PhaseSamples& offline) {
  constexpr std::int64_t kStart = 7'000'000'000'123;
  constexpr std::int64_t kHour = 3'600'000'000'000;
  run::TrialEvidence evidence;
  evidence.model = a_model();
  evidence.devices.resize(single_stream.stages.size());
  for (std::size_t i = 0; i < single_stream.stages.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(i) * kHour;
    stage::RunReport report;
    report.single_stream = shifted(single_stream.stages[i], kStageMoments, kStart + offset);
    report.offline = shifted(offline.stages[i], kStageMoments, 2 * kStart + offset);
    if (i == 0) {
      report.single_stream_results = shifted(single_stream.results, kResultMoments, kStart);
      report.offline_results = shifted(offline.results, kResultMoments, 2 * kStart);
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
    evidence.configured.push_back(configured);
    evidence.clocks.push_back(i == 0 ? run::ClockAlignment()
                                     : run::ClockAlignment(exchange(kStart, offset), exchange(3 * kStart, offset)));
  }
  return evidence;
}

inline run::TrialEvidence regular_evidence() {
  return evidence_of(regular_samples(kAlone, kWarmup + kBatches, kWarmup, 1),
                     regular_samples(kLoaded, kWarmup + kBatches, kWarmup, 4));
}

}  // namespace paretopipe::testing
