#pragma once
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/record/record.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

/// Records and samples made up for tests.
namespace paretopipe::testing {

/// Valid moments with random gaps, some of them zero: `batches` of them in `stages` stages.
inline record::PhaseSamples random_samples(std::mt19937& random, int stages, int batches, int warmup) {
  std::uniform_int_distribution<std::int64_t> gap(-1000, 1'000'000);
  std::int64_t now = 0;
  const auto later = [&] { return now += std::max<std::int64_t>(0, gap(random)); };
  record::PhaseSamples samples;
  samples.warmup = warmup;
  samples.stages.resize(static_cast<std::size_t>(stages));
  for (int batch = 0; batch < batches; ++batch) {
    std::int64_t sent = later();
    for (auto& stage : samples.stages) {
      const bool source = &stage == &samples.stages.front();
      now = sent;
      stage.receive_begin.push_back(source ? sent : later());
      stage.receive_end.push_back(source ? sent : later());
      stage.ready.push_back(source ? sent : later());
      stage.compute_begin.push_back(later());
      stage.compute_end.push_back(later());
      stage.encoded.push_back(later());
      stage.codec_begin.push_back(stages > 1 ? later() : now);
      stage.send_begin.push_back(sent = stages > 1 ? later() : now);
      stage.send_end.push_back(stages > 1 ? later() : now);
    }
    now = sent;
    samples.results.receive_begin.push_back(stages > 1 ? later() : now);
    samples.results.receive_end.push_back(stages > 1 ? later() : now);
    samples.results.completed.push_back(later());
  }
  return samples;
}

/// How long a batch takes in a made-up pipeline of two stages, in nanoseconds. Beyond these, a batch waits `kWait` for
/// every compute thread and is encoded, decoded and handed to the sender in no time.
struct Durations {
  std::int64_t compute0 = 0;
  std::int64_t transfer = 0;
  std::int64_t compute1 = 0;
  std::int64_t back = 0;
  std::int64_t interval = 0;  ///< between two batches
};
inline constexpr std::int64_t kWait = 1000;

/// A quarter of each transfer passes before the receiver sees the header.
inline record::PhaseSamples regular_samples(const Durations& d, int batches, int warmup, int depth) {
  record::PhaseSamples samples;
  samples.warmup = warmup;
  samples.depth = depth;
  samples.stages.resize(2);
  const auto compute = [](StageTimeline& stage, std::int64_t ready, std::int64_t duration) {
    stage.ready.push_back(ready);
    stage.compute_begin.push_back(ready + kWait);
    for (auto* moments : {&stage.compute_end, &stage.encoded, &stage.codec_begin, &stage.send_begin, &stage.send_end}) {
      moments->push_back(ready + kWait + duration);
    }
    return ready + kWait + duration;
  };
  for (int batch = 0; batch < batches; ++batch) {
    const std::int64_t handed_over = batch * d.interval;
    auto& source = samples.stages[0];
    auto& sink = samples.stages[1];
    source.receive_begin.push_back(handed_over);
    source.receive_end.push_back(handed_over);
    const auto sent = compute(source, handed_over, d.compute0);
    sink.receive_begin.push_back(sent + d.transfer / 4);
    sink.receive_end.push_back(sent + d.transfer);
    const auto returned = compute(sink, sent + d.transfer, d.compute1);
    samples.results.receive_begin.push_back(returned + d.back / 4);
    samples.results.receive_end.push_back(returned + d.back);
    samples.results.completed.push_back(returned + d.back);
  }
  return samples;
}

/// The same entries as micro-batches of batches, `micro-batches` each: all of a batch are handed over with its first
/// one.
inline record::PhaseSamples micro_batched(record::PhaseSamples samples, int micro_batches) {
  samples.micro_batches = micro_batches;
  auto& source = samples.stages.front();
  for (auto* moments : {&source.receive_begin, &source.receive_end, &source.ready}) {
    for (std::size_t i = 0; i < moments->size(); ++i) {
      (*moments)[i] = (*moments)[i - i % static_cast<std::size_t>(micro_batches)];
    }
  }
  return samples;
}

/// The first stage alone, as where all is local.
inline record::PhaseSamples alone(record::PhaseSamples samples) {
  samples.stages.resize(1);
  const auto& encoded = samples.stages[0].encoded;
  samples.results = {encoded, encoded, encoded};
  return samples;
}

/// The links of a pipeline: from each stage to the next one, and from the last one back. A stage alone has none.
inline std::vector<record::LinkPayload> ring_links(int stages) {
  std::vector<record::LinkPayload> links;
  for (int from = 0; stages > 1 && from < stages; ++from) links.push_back({from, (from + 1) % stages, 100, 64});
  return links;
}

/// The record with the summary of its samples.
inline record::TrialRecord summarised(record::TrialRecord record) {
  record.summary = stats::summarise(record.single_stream, record.offline, record.trial.batch, record.links);
  return record;
}

inline experiment::Trial make_trial(int split, int repetition = 0) {
  experiment::Trial trial;
  trial.model = "resnet18";
  trial.block_count = 10;
  trial.split_points = {split};
  trial.batch = 8;
  trial.batches = 8;
  trial.warmup = 2;
  trial.depth = 4;
  trial.repetition = repetition;
  trial.data = "random";
  trial.cpus = {"0", "1"};
  return trial;
}

/// An ok record with regular samples; the payload crosses in both directions, the result being 320 bytes.
inline record::TrialRecord make_record(const experiment::Trial& trial, Durations durations,
                                       std::int64_t payload_bytes) {
  record::TrialRecord record;
  record.trial = trial;
  record.provenance.started_at = "2026-01-01T00:00:00Z";
  record.stages.resize(trial.all_local() ? 1 : 2);
  for (auto& stage : record.stages) {
    stage.parameter_bytes = 1000;
    stage.peak_rss_bytes = 50'000'000;
  }
  record.fidelity = record::Fidelity{.mean_abs_difference = 0};
  const auto batches = trial.warmup + trial.batches;
  auto offline = durations;
  offline.interval = std::max({durations.compute0, durations.transfer, durations.compute1}) + kWait;
  durations.interval = 2 * (durations.compute0 + durations.transfer + durations.compute1 + durations.back);
  record.single_stream = regular_samples(durations, batches, trial.warmup, 1);
  record.offline = regular_samples(offline, batches, trial.warmup, trial.depth);
  if (trial.all_local()) {
    record.single_stream = alone(*record.single_stream);
    record.offline = alone(*record.offline);
  } else {
    record.links = {{0, 1, payload_bytes, 64}, {1, 0, 320, 64}};
  }
  return summarised(std::move(record));
}

/// The record of the same trial with these phases only.
inline record::TrialRecord in_phases(record::TrialRecord record, experiment::Phases phases) {
  record.trial.phases = phases;
  if (!experiment::has_single_stream(phases)) record.single_stream.reset();
  if (!experiment::has_offline(phases)) record.offline.reset();
  return summarised(std::move(record));
}

inline record::TrialRecord make_failure(const experiment::Trial& trial, const std::string& reason) {
  record::TrialRecord record;
  record.trial = trial;
  record.status = record::Status::failed;
  record.failure = record::Failure{"run", 1, reason};
  return record;
}

}  // namespace paretopipe::testing
