#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "../stats/samples.hpp"

/// Records of pipelines whose truth is known, since every batch is led through them by the rules that stages follow:
/// one micro-batch of a batch at a time on a compute thread and on a link, one batch at the source; `depth` batches in
/// flight.
namespace paretopipe::testing {

/// In nanoseconds a batch. Links are in ring order, the last one leads back; none where there is one stage.
struct Pipeline {
  std::vector<std::int64_t> compute;
  std::vector<std::int64_t> link{};   ///< what it is busy with a batch
  std::vector<std::int64_t> delay{};  ///< one way; as many as links
  std::vector<std::int64_t> codec{};  ///< that a send thread encodes; as many as stages, or none
  std::int64_t taking = 0;            ///< that the kernel then lets a thread that encodes wait
  std::int64_t source = 0;
  int depth = 4;
  int micro_batches = 1;  ///< of a batch; each takes its share of the times above, rounded down
  int batches = 400;
  int warmup = 40;
  bool whole_frames = false;   ///< the link hands a frame on at its end: its header arrives together with its body
  int receive_buffers = 1000;  ///< a stage receives no more while so many are waiting or computed
  std::int64_t pause = 0;      ///< that a compute thread makes before each batch, for no reason that a record has
  std::function<double()> scatter = [] { return 1.0; };  ///< times the compute of each batch
};

/// Lets a stage's send thread, which is free at `free`, encode what was computed until `computed`. Returns when it
/// sends.
inline std::int64_t pass_sender(const Pipeline& pipeline, std::size_t number, StageTimeline& stage,
                                std::int64_t computed, std::int64_t& free) {
  const bool encodes = !pipeline.codec.empty();
  const auto begin = encodes ? std::max(computed, free) : computed;
  const auto sent = begin + (encodes ? pipeline.codec[number] / pipeline.micro_batches : 0);
  free = sent + (encodes ? pipeline.taking : 0);
  stage.codec_begin.push_back(begin);
  stage.send_begin.push_back(sent);
  stage.send_end.push_back(free);
  return sent;
}

/// The moments of one phase, which leave the pipeline empty at its beginning.
inline record::PhaseSamples run(const Pipeline& pipeline, int depth) {
  const auto stages = pipeline.compute.size();
  const bool alone = stages == 1;
  const auto in_flight = static_cast<std::size_t>(depth);
  record::PhaseSamples samples;
  samples.warmup = pipeline.warmup;
  samples.depth = depth;
  samples.micro_batches = pipeline.micro_batches;
  samples.stages.resize(stages);
  std::vector<std::int64_t> thread_free(stages, 0), sender_free(stages, 0), link_free(stages, 0), turned;
  std::int64_t source_free = 0;
  const auto pass_link = [&](std::size_t from, std::int64_t sent, std::int64_t taken) {
    const auto left = std::max(sent, link_free[from]) + pipeline.link[from] / pipeline.micro_batches;
    link_free[from] = left;
    const auto arrived = left + pipeline.delay[from];
    const auto header = pipeline.whole_frames ? arrived : arrived - pipeline.link[from] / pipeline.micro_batches;
    return std::pair{std::max(header, taken), std::max(arrived, taken)};
  };
  const auto micro_batches = static_cast<std::size_t>(pipeline.micro_batches);
  for (std::size_t c = 0; c < static_cast<std::size_t>(pipeline.warmup + pipeline.batches) * micro_batches; ++c) {
    auto ready = c / micro_batches < in_flight ? 0 : turned[c / micro_batches - in_flight];
    auto header = ready;
    for (std::size_t s = 0; s < stages; ++s) {
      auto& stage = samples.stages[s];
      if (s > 0) {
        const auto buffers = static_cast<std::size_t>(pipeline.receive_buffers);
        const auto taken = c < buffers ? 0 : stage.compute_end[c - buffers];
        std::tie(header, ready) = pass_link(s - 1, samples.stages[s - 1].send_begin[c], taken);
      }
      const auto begin = std::max(ready, thread_free[s]) + pipeline.pause;
      const auto end =
          begin + std::llround(static_cast<double>(pipeline.compute[s] / pipeline.micro_batches) * pipeline.scatter());
      thread_free[s] = end;
      stage.receive_begin.push_back(header);
      for (auto* moments : {&stage.receive_end, &stage.ready}) moments->push_back(ready);
      stage.compute_begin.push_back(begin);
      for (auto* moments : {&stage.compute_end, &stage.encoded}) moments->push_back(end);
      const auto sent = pass_sender(pipeline, s, stage, end, sender_free[s]);
      header = ready = sent;
    }
    if (!alone) std::tie(header, ready) = pass_link(stages - 1, ready, source_free);
    samples.results.receive_begin.push_back(header);
    for (auto* moments : {&samples.results.receive_end, &samples.results.completed}) moments->push_back(ready);
    if ((c + 1) % micro_batches != 0) continue;  // the source compares whole batches
    source_free = ready + pipeline.source;
    if (alone) thread_free[0] = source_free;
    turned.push_back(source_free);
  }
  return samples;
}

/// An ok record of it. Cuts lie behind blocks 1, 2, … of 10 unless `split_points` says otherwise.
inline record::TrialRecord record_of(const Pipeline& pipeline, std::vector<int> split_points = {}, int repetition = 0) {
  auto trial = make_trial(1, repetition);
  if (split_points.empty()) {
    for (std::size_t s = 1; s < pipeline.compute.size(); ++s) split_points.push_back(static_cast<int>(s));
  }
  trial.split_points = split_points.empty() ? std::vector{trial.block_count} : split_points;
  if (pipeline.micro_batches > 1) trial.micro_batch = trial.batch / pipeline.micro_batches;
  trial.batches = pipeline.batches;
  trial.warmup = pipeline.warmup;
  trial.depth = pipeline.depth;
  record::TrialRecord record;
  record.trial = trial;
  record.stages.resize(pipeline.compute.size());
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    // The thread that encodes needs a CPU of its own.
    record.stages[s].cpus = std::to_string(s) + (pipeline.codec.empty() ? "" : "," + std::to_string(100 + s));
    record.stages[s].blocks = {static_cast<int>(s), static_cast<int>(s) + 1};
  }
  const auto links = static_cast<int>(pipeline.link.size());
  for (int i = 0; i < links; ++i) record.links.push_back({i, (i + 1) % links, 1000 * (links - i), 100});
  if (std::any_of(pipeline.delay.begin(), pipeline.delay.end(), [](auto delay) { return delay != 0; })) {
    record.network = experiment::NetworkEvidence{};
    record.network->read_back.forward.delay = Nanoseconds(pipeline.delay.front());
    record.network->read_back.backward.delay = Nanoseconds(pipeline.delay.back());
  }
  record.single_stream = run(pipeline, 1);
  record.offline = run(pipeline, pipeline.depth);
  record.fidelity = record::Fidelity{};
  return summarised(std::move(record));
}

}  // namespace paretopipe::testing
