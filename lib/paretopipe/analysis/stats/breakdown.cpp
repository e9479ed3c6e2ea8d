#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/timeline.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace paretopipe::stats {

Series of_last_micro_batches(const Series& series, int micro_batches) {
  const auto step = static_cast<std::size_t>(micro_batches);
  Series last;
  for (auto i = step - 1; i < series.size(); i += step) last.push_back(series[i]);
  return last;
}

Series sums_over_micro_batches(const Series& series, int micro_batches) {
  Series sums;
  for (auto begin = series.begin(); series.end() - begin >= micro_batches; begin += micro_batches) {
    sums.push_back(std::accumulate(begin, begin + micro_batches, std::int64_t{0}));
  }
  return sums;
}

Series differences(const Series& end, const Series& begin) {
  Series durations(end.size());
  std::transform(end.begin(), end.end(), begin.begin(), durations.begin(), std::minus<>());
  return durations;
}

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
    throw UsageError(fmt::format("the samples are damaged: {} entries are not batches of {} micro-batches",
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
    for (const auto moment : kStageMoments) check_length(stage.*moment, entries);
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
    result.parts.push_back({part, stage, differences(moment, *reached)});
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
    if (stages == 1) continue;
    auto& encode = result.parts.back().ns;
    const auto with_codec = differences(stage.send_begin, stage.codec_begin);
    std::transform(encode.begin(), encode.end(), with_codec.begin(), encode.begin(), std::plus<>());
    pass(Part::send_queue, s, stage.codec_begin);
    reached = &stage.send_begin;
  }
  if (stages > 1) pass(Part::transfer, 0, results.receive_end);
  pass(Part::decode, 0, results.completed);
  result.latency_ns = differences(results.completed, handed_over);
  return result;
}

Breakdown breakdown(const record::PhaseSamples& samples) {
  auto result = micro_batch_breakdown(samples);
  if (samples.micro_batches == 1) return result;
  for (auto& part : result.parts) part.ns = of_last_micro_batches(part.ns, samples.micro_batches);
  result.latency_ns = of_last_micro_batches(result.latency_ns, samples.micro_batches);
  return result;
}

std::vector<std::int64_t> measured_intervals_ns(const record::PhaseSamples& offline) {
  breakdown(offline);  // refuses damaged samples
  auto intervals = of_last_micro_batches(offline.results.completed, offline.micro_batches);
  std::sort(intervals.begin(), intervals.end());  // devices overtake one another
  std::adjacent_difference(intervals.begin(), intervals.end(), intervals.begin());
  intervals.erase(intervals.begin(), intervals.begin() + offline.warmup + 1);
  return intervals;
}

std::vector<std::int64_t> measured_latencies_ns(const record::PhaseSamples& single_stream) {
  auto latencies = breakdown(single_stream).latency_ns;
  latencies.erase(latencies.begin(), latencies.begin() + single_stream.warmup);
  return latencies;
}

record::PhaseSamples of_device(const record::PhaseSamples& samples, int device) {
  const auto micro_batches = static_cast<std::size_t>(samples.micro_batches);
  const auto batches = samples.results.completed.size() / micro_batches;
  const Deal deal{static_cast<std::size_t>(samples.devices), batches};
  record::PhaseSamples own;
  own.depth = samples.depth;
  own.micro_batches = samples.micro_batches;
  own.stages.resize(samples.stages.size());
  const auto append = [&](std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from, std::size_t batch) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(batch * micro_batches);
    to.insert(to.end(), begin, begin + samples.micro_batches);
  };
  for (std::size_t batch = 0; batch < batches; ++batch) {
    if (deal.device_of(batch) != static_cast<std::size_t>(device)) continue;
    if (batch < static_cast<std::size_t>(samples.warmup)) ++own.warmup;
    for (std::size_t s = 0; s < own.stages.size(); ++s) {
      for (const auto moment : kStageMoments) append(own.stages[s].*moment, samples.stages[s].*moment, batch);
    }
    for (const auto moment : kResultMoments) append(own.results.*moment, samples.results.*moment, batch);
  }
  return own;
}

CompletionWindow completion_window(const record::PhaseSamples& offline) {
  const auto completed = of_last_micro_batches(offline.results.completed, offline.micro_batches);
  const auto begin = completed.begin() + offline.warmup;
  const auto end = completed.end();
  const auto [first, last] = std::minmax_element(begin, end);
  if (begin == end || *first == *last) {
    throw UsageError(
        fmt::format("throughput is the rate between two completions, and there were {} after warm-up at "
                    "one moment; measure at least 2 batches",
                    end - begin));
  }
  return {*first, *last, static_cast<std::size_t>(end - begin)};
}

std::vector<Stretch> bubbles(const StageTimeline& stage, const CompletionWindow& window) {
  std::vector<Stretch> computes;
  for (std::size_t i = 0; i < stage.compute_begin.size(); ++i) {
    computes.push_back({stage.compute_begin[i], stage.compute_end[i]});
  }
  std::sort(computes.begin(), computes.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });

  std::vector<Stretch> idle;
  auto reached = window.first;
  const auto rest_until = [&](std::int64_t moment) {
    const auto end = std::min(moment, window.last);
    if (end > reached) idle.push_back({reached, end});
  };
  for (const auto& compute : computes) {
    rest_until(compute.begin);
    reached = std::max(reached, compute.end);
  }
  rest_until(window.last);
  return idle;
}

}  // namespace paretopipe::stats
