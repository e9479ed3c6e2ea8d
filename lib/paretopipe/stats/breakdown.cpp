#include <paretopipe/core/error.hpp>
#include <paretopipe/stats/breakdown.hpp>

#include <algorithm>

namespace paretopipe::stats {
namespace {

using Moments = std::vector<std::int64_t>;
using record::Part;

void check_length(const Moments& moments, std::size_t batches) {
  if (moments.size() != batches) {
    throw UsageError(
        fmt::format("the samples are damaged: one series has {} batches, another {}", batches, moments.size()));
  }
}

void check(const record::PhaseSamples& samples, int stages) {
  const auto batches = samples.results.completed.size();
  if (batches == 0 || stages == 0) throw UsageError("the samples hold no batch");
  for (int s = 0; s < stages; ++s) {
    const auto& stage = samples.stages[static_cast<std::size_t>(s)];
    for (const auto* moments : {&stage.receive_begin, &stage.receive_end, &stage.ready, &stage.compute_begin,
                                &stage.compute_end, &stage.encoded, &stage.send_begin, &stage.send_end}) {
      check_length(*moments, batches);
    }
  }
  check_length(samples.results.receive_begin, batches);
  check_length(samples.results.receive_end, batches);
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

Breakdown breakdown(const record::PhaseSamples& samples) {
  const int stages = stage_count(samples);
  check(samples, stages);
  const auto& handed_over = samples.stages.front().receive_begin;
  const auto& results = samples.results;

  Breakdown result;
  // Every part begins where the one before it ended: that is what makes them add up.
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

}  // namespace paretopipe::stats
