#include <paretopipe/core/error.hpp>
#include <paretopipe/stats/breakdown.hpp>
#include <paretopipe/stats/per_batch_series.hpp>

#include <algorithm>

namespace paretopipe::stats {
namespace {

using Moments = std::vector<std::int64_t>;
using record::Part;

void check_length(const Moments& moments, std::size_t micro_batches) {
  if (moments.size() != micro_batches) {
    throw UsageError(
        fmt::format("the samples are damaged: one series has {} batches, another {}", micro_batches, moments.size()));
  }
}

/// Requires that a batch was handed over as a whole: only then its last micro-batch's latency is the batch's.
void check_micro_batches(const record::PhaseSamples& samples) {
  const auto& handed_over = samples.stages.front().receive_begin;
  const auto micro_batches = static_cast<std::size_t>(samples.micro_batches);
  if (samples.micro_batches < 1 || handed_over.size() % micro_batches != 0) {
    throw UsageError(fmt::format("the samples are damaged: {} entries are no batches of {} micro-batches",
                                 handed_over.size(), samples.micro_batches));
  }
  for (std::size_t i = 0; i < handed_over.size(); ++i) {
    if (handed_over[i] == handed_over[i - i % micro_batches]) continue;
    throw UsageError("the samples are damaged: the micro-batches of a batch were handed over at different moments");
  }
}

/// Requires that every device measured a batch.
void check_devices(const record::PhaseSamples& samples, int stages) {
  if (samples.devices == 1) return;
  const auto measured =
      static_cast<std::int64_t>(samples.results.completed.size()) / samples.micro_batches - samples.warmup;
  if (samples.devices > 1 && stages == 2 && measured >= samples.devices) return;
  throw UsageError(fmt::format("the samples are damaged: {} batches of {} stages were measured on {} devices", measured,
                               stages, samples.devices));
}

void check(const record::PhaseSamples& samples, int stages) {
  const auto entries = samples.results.completed.size();
  if (entries == 0 || stages == 0) throw UsageError("the samples hold no batch");
  for (int s = 0; s < stages; ++s) {
    const auto& stage = samples.stages[static_cast<std::size_t>(s)];
    for (const auto* moments : {&stage.receive_begin, &stage.receive_end, &stage.ready, &stage.compute_begin,
                                &stage.compute_end, &stage.encoded, &stage.send_begin, &stage.send_end}) {
      check_length(*moments, entries);
    }
  }
  check_length(samples.results.receive_begin, entries);
  check_length(samples.results.receive_end, entries);
  check_micro_batches(samples);
  const auto batches = entries / static_cast<std::size_t>(samples.micro_batches);
  check_devices(samples, stages);
  if (samples.warmup < 0 || static_cast<std::size_t>(samples.warmup) >= batches) {
    throw UsageError(fmt::format("no batch was measured: {} were run, {} of them to warm up", batches, samples.warmup));
  }
}

Moments difference(const Moments& end, const Moments& begin) {
  Moments result(end.size());
  std::transform(end.begin(), end.end(), begin.begin(), result.begin(), std::minus<>());
  return result;
}

}  // namespace

int stage_count(const record::PhaseSamples& samples) {
  const auto idle = [](const StageTimeline& stage) { return stage.compute_begin.empty(); };
  return static_cast<int>(std::find_if(samples.stages.begin(), samples.stages.end(), idle) - samples.stages.begin());
}

Breakdown micro_batch_breakdown(const record::PhaseSamples& samples) {
  const int stages = stage_count(samples);
  check(samples, stages);
  const auto& handed_over = samples.stages.front().receive_begin;
  const auto& results = samples.results;

  Breakdown result;
  // Every part begins where the one before it ended, so they add up.
  const Moments* reached = &handed_over;
  const auto pass = [&](Part part, int stage, const Moments& moment) {
    result.parts.push_back({part, stage, difference(moment, *reached)});
    reached = &moment;
  };

  for (int s = 0; s < stages; ++s) {
    const auto& stage = samples.stages[static_cast<std::size_t>(s)];
    if (s > 0) {
      pass(Part::transfer, s, stage.receive_end);
      pass(Part::decode, s, stage.ready);
    }
    pass(Part::queue, s, stage.compute_begin);
    pass(Part::compute, s, stage.compute_end);
    pass(Part::encode, s, stage.encoded);
    if (stages > 1) pass(Part::send_queue, s, stage.send_begin);
  }
  if (stages > 1) pass(Part::transfer, 0, results.receive_end);
  pass(Part::decode, 0, results.completed);
  result.latency_ns = difference(results.completed, handed_over);
  return result;
}

Breakdown breakdown(const record::PhaseSamples& samples) {
  auto result = micro_batch_breakdown(samples);
  if (samples.micro_batches == 1) return result;
  for (auto& part : result.parts) part.ns = of_last_micro_batches(part.ns, samples.micro_batches);
  result.latency_ns = of_last_micro_batches(result.latency_ns, samples.micro_batches);
  return result;
}

}  // namespace paretopipe::stats
