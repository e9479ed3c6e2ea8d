#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>

namespace paretopipe::stats {

namespace {

/// The batches after warm-up. Callers ensure that there is at least one.
std::span<const std::int64_t> measured(const Series& series, int warmup) {
  return std::span(series).subspan(static_cast<std::size_t>(warmup));
}

double median_ns(std::span<const std::int64_t> durations) {
  return *median(std::vector<double>(durations.begin(), durations.end()));
}

/// The median for one micro-batch, over the micro-batches of all measured batches.
double median_difference_ns(const Series& end, const Series& begin, const record::PhaseSamples& samples) {
  return median_ns(measured(differences(end, begin), samples.warmup * samples.micro_batches));
}

std::vector<record::PartSummary> summarise_parts(const Breakdown& parts, int warmup) {
  std::vector<record::PartSummary> summaries;
  for (const auto& [part, stage, ns] : parts.parts) {
    const auto durations = measured(ns, warmup);
    summaries.push_back({part, stage, *mean(durations), median_ns(durations)});
  }
  return summaries;
}

double rate_per_s(std::int64_t bytes, double duration_ns) {
  return static_cast<double>(bytes) * 1e9 / std::max(duration_ns, 1.0);
}

std::vector<record::LinkSummary> summarise_links(const record::PhaseSamples& samples,
                                                 const std::vector<record::LinkPayload>& links) {
  const auto stages = samples.stages.begin();
  const std::ptrdiff_t stage_total = stage_count(samples);
  if (static_cast<std::ptrdiff_t>(links.size()) != (stage_total == 1 ? 0 : stage_total)) {
    throw UsageError(fmt::format("{} stage(s) took part, which does not fit {} link(s)", stage_total, links.size()));
  }
  std::vector<record::LinkSummary> summaries;
  for (std::ptrdiff_t from = 0; from < static_cast<std::ptrdiff_t>(links.size()); ++from) {
    const auto& link = links[static_cast<std::size_t>(from)];
    const bool results = from + 1 == stage_total;
    const auto& received = results ? samples.results.receive_end : stages[from + 1].receive_end;
    const auto& header_arrived = results ? samples.results.receive_begin : stages[from + 1].receive_begin;
    const double transfer = median_difference_ns(received, stages[from].send_begin, samples);
    const double receive = median_difference_ns(received, header_arrived, samples);
    const auto payload = link.payload_bytes / samples.micro_batches;
    summaries.push_back({link.from, link.to, transfer, rate_per_s(payload, transfer), rate_per_s(payload, receive)});
  }
  return summaries;
}

record::StageUtilisation utilisation(const StageTimeline& stage, const record::PhaseSamples& offline,
                                     const CompletionWindow& window) {
  std::int64_t busy = 0;
  for (std::size_t i = 0; i < stage.compute_begin.size(); ++i) {
    const auto begin = std::clamp(stage.compute_begin[i], window.first, window.last);
    const auto end = std::clamp(stage.compute_end[i], window.first, window.last);
    busy += end - begin;
  }
  const double share = static_cast<double>(busy) / window.length_ns();
  const auto computes =
      sums_over_micro_batches(differences(stage.compute_end, stage.compute_begin), offline.micro_batches);
  return {median_ns(measured(computes, offline.warmup)), share, 1 - share};
}

/// If batches were dealt out to devices, each device has two links.
void check_links_of_devices(const record::PhaseSamples& samples, const std::vector<record::LinkPayload>& links) {
  const auto devices = static_cast<std::size_t>(samples.devices);
  if (devices == 1 || links.size() == 2 * (devices - 1)) return;
  throw UsageError(fmt::format("{} devices took part, which does not fit {} link(s)", devices, links.size()));
}

/// The links of each device that batches were dealt out to.
std::vector<record::LinkSummary> summarise_links_of_devices(const record::PhaseSamples& single_stream,
                                                            const std::vector<record::LinkPayload>& links) {
  std::vector<record::LinkSummary> summaries;
  for (int device = 1; device < single_stream.devices; ++device) {
    const auto there = links.begin() + 2 * (device - 1);
    for (const auto& link : summarise_links(of_device(single_stream, device), {there, there + 2})) {
      summaries.push_back(link);
    }
  }
  return summaries;
}

void summarise_latency(record::Summary& summary, const record::PhaseSamples& single_stream,
                       const std::vector<record::LinkPayload>& links) {
  const auto alone = breakdown(single_stream);
  check_links_of_devices(single_stream, links);
  summary.latency = *distribution(measured(alone.latency_ns, single_stream.warmup));
  summary.breakdown = summarise_parts(alone, single_stream.warmup);
  summary.links = single_stream.devices > 1 ? summarise_links_of_devices(single_stream, links)
                                            : summarise_links(single_stream, links);
}

void summarise_throughput(record::Summary& summary, const record::PhaseSamples& offline, int batch,
                          const std::vector<record::LinkPayload>& links) {
  const auto loaded = breakdown(offline);
  const auto window = completion_window(offline);
  check_links_of_devices(offline, links);
  summary.latency_under_load = *distribution(measured(loaded.latency_ns, offline.warmup));
  summary.throughput_image_per_s = static_cast<double>(window.batches - 1) * batch * 1e9 / window.length_ns();
  for (int device = 0; offline.devices > 1 && device < offline.devices; ++device) {
    const auto share = of_device(offline, device);
    summary.stages.push_back(utilisation(share.stages.back(), share, window));
  }
  for (int s = 0; offline.devices == 1 && s < stage_count(offline); ++s) {
    summary.stages.push_back(utilisation(offline.stages[static_cast<std::size_t>(s)], offline, window));
  }
}

}  // namespace

record::Summary summarise(const std::optional<record::PhaseSamples>& single_stream,
                          const std::optional<record::PhaseSamples>& offline, int batch,
                          const std::vector<record::LinkPayload>& links) {
  if (single_stream && offline && single_stream->devices != offline->devices) {
    throw UsageError(fmt::format("{} devices took part in one phase, and {} in the other", single_stream->devices,
                                 offline->devices));
  }
  record::Summary summary;
  if (single_stream) summarise_latency(summary, *single_stream, links);
  if (offline) summarise_throughput(summary, *offline, batch, links);
  return summary;
}

namespace {

using nlohmann::json;

/// A warm-up that is longer than requested is no damage; fewer batches are.
void check_batches(const record::PhaseSamples& samples, const experiment::Trial& trial, const char* phase) {
  if (samples.micro_batches != trial.micro_batches()) {
    throw UsageError(fmt::format("the record's \"{}\" has batches of {} micro-batches, and its trial asks for {}",
                                 phase, samples.micro_batches, trial.micro_batches()));
  }
  if (samples.devices != std::max(1, trial.data_parallel)) {
    throw UsageError(fmt::format("the record's \"{}\" was dealt out to {} devices, and its trial asks for {}", phase,
                                 samples.devices, std::max(1, trial.data_parallel)));
  }
  const auto asked = static_cast<std::size_t>(trial.warmup) + static_cast<std::size_t>(trial.batches);
  const auto batches = samples.results.completed.size() / static_cast<std::size_t>(samples.micro_batches);
  if (samples.warmup >= trial.warmup && batches >= asked) return;
  throw UsageError(
      fmt::format("the record's \"{}\" has {} batches, {} of them to warm up, and its trial asks for {} and {}", phase,
                  batches, samples.warmup, asked, trial.warmup));
}

/// Compares `recorded` with `derived`, which is computed anew from the samples. Throws UsageError unless they are
/// equal.
void check_derived(const json& recorded, const json& derived, std::string_view what) {
  const auto flat = recorded.flatten();
  const auto expected = derived.flatten();
  for (const auto& [place, value] : expected.items()) {
    const auto found = flat.find(place);
    if (found != flat.end() && nearly_equal(*found, value)) continue;
    throw UsageError(fmt::format("the record's \"{}{}\" is {}, and its samples say {}: was it edited by hand?", what,
                                 place, found == flat.end() ? "missing" : found->dump(), value.dump()));
  }
  for (const auto& [place, value] : flat.items()) {
    if (expected.contains(place)) continue;
    throw UsageError(fmt::format("the record's \"{}{}\" is {}, which no sample says: was it edited by hand?", what,
                                 place, value.dump()));
  }
}

void check_server(const record::ServerRecord& server, const experiment::Trial& trial) {
  if (!trial.server) throw UsageError("the record has a Server phase, and its trial asks for none");
  const auto asked = static_cast<std::size_t>(trial.warmup) + static_cast<std::size_t>(trial.server->queries);
  for (const auto& run : server.runs) {
    if (run.warmup < trial.warmup || run.moments.scheduled.size() < asked) {
      throw UsageError(fmt::format("the record's \"server\" has a run of {} queries, and its trial asks for {}",
                                   run.moments.scheduled.size(), asked));
    }
    check_derived(run.summary, summarise_server(run.moments, run.warmup, trial.batch), "server/runs/summary");
  }
  if (trial.server->bound) {
    if (!server.runs.empty() && server.max_rate == max_rate_of(server.runs, *trial.server->bound)) return;
    throw UsageError("the record's \"server/max_rate\" is not what its runs say: was it edited by hand?");
  }
  if (server.runs.size() != 1 || server.runs.front().rate_image_per_s != trial.server->rate_image_per_s ||
      server.max_rate) {
    throw UsageError("the record's \"server\" must have one run, at the rate of its trial");
  }
}

}  // namespace

void check_summary(const record::TrialRecord& record) {
  if (record.summary && record.training) {
    record::Summary derived;
    derived.training = summarise_training(*record.training, record.trial, record.clocks);
    check_derived(*record.summary, derived, "summary");
  }
  if (!record.summary || (!record.single_stream && !record.offline)) return;
  if (record.single_stream) check_batches(*record.single_stream, record.trial, "single_stream");
  if (record.offline) check_batches(*record.offline, record.trial, "offline");
  check_derived(*record.summary, summarise(record.single_stream, record.offline, record.trial.batch, record.links),
                "summary");
  if (record.server) check_server(*record.server, record.trial);
}

namespace {

using Moments = std::vector<std::int64_t>;

bool never_before(const Moments& later, const Moments& earlier) {
  return std::equal(later.begin(), later.end(), earlier.begin(), std::greater_equal<>());
}

void check(const ServerTimeline& moments, int warmup) {
  const auto batches = moments.scheduled.size();
  if (moments.handed_over.size() != batches || moments.completed.size() != batches) {
    throw UsageError("the samples of a Server phase are damaged: its series have different lengths");
  }
  if (warmup < 0 || batches < static_cast<std::size_t>(warmup) + 2) {
    throw UsageError(fmt::format(
        "a Server phase needs two queries after its warm-up: {} were run, {} of them to warm up", batches, warmup));
  }
  const bool ordered = std::is_sorted(moments.scheduled.begin(), moments.scheduled.end()) &&
                       std::is_sorted(moments.completed.begin(), moments.completed.end()) &&
                       never_before(moments.handed_over, moments.scheduled) &&
                       never_before(moments.completed, moments.handed_over);
  if (!ordered) throw UsageError("the samples of a Server phase are damaged: its moments go back in time");
}

/// Images per second between the first moment after warm-up and the last.
double rate_of(const Moments& moments, int warmup, int batch) {
  const auto first = moments[static_cast<std::size_t>(warmup)];
  const auto gaps = static_cast<double>(moments.size() - static_cast<std::size_t>(warmup) - 1);
  return gaps * batch * 1e9 / static_cast<double>(std::max<std::int64_t>(1, moments.back() - first));
}

double value_of(const record::Distribution& latency, experiment::LatencyStatistic statistic) {
  switch (statistic) {
    case experiment::LatencyStatistic::mean:
      return latency.mean_ns;
    case experiment::LatencyStatistic::p50:
      return latency.p50_ns;
    case experiment::LatencyStatistic::p90:
      return latency.p90_ns;
    case experiment::LatencyStatistic::p95:
      return latency.p95_ns;
    case experiment::LatencyStatistic::p99:
      return latency.p99_ns;
    case experiment::LatencyStatistic::max:
      break;
  }
  return latency.max_ns;
}

}  // namespace

record::ServerSummary summarise_server(const ServerTimeline& moments, int warmup, int batch) {
  check(moments, warmup);
  record::ServerSummary summary;
  summary.latency = *distribution(measured(differences(moments.completed, moments.scheduled), warmup));
  summary.offered_image_per_s = rate_of(moments.scheduled, warmup, batch);
  summary.achieved_image_per_s = rate_of(moments.completed, warmup, batch);
  summary.saturated = summary.achieved_image_per_s < kKeptUp * summary.offered_image_per_s;
  summary.source_wait_mean_ns = *mean(measured(differences(moments.handed_over, moments.scheduled), warmup));
  return summary;
}

bool keeps(const record::ServerSummary& summary, const experiment::LatencyBound& bound) {
  return !summary.saturated && value_of(summary.latency, bound.statistic) < static_cast<double>(bound.limit_ns);
}

record::MaxRate max_rate_of(const std::vector<record::ServerRun>& runs, const experiment::LatencyBound& bound) {
  record::MaxRate result;
  for (const auto& run : runs) {
    const double rate = run.rate_image_per_s;
    if (keeps(run.summary, bound)) {
      result.kept_image_per_s = std::max(result.kept_image_per_s.value_or(rate), rate);
    } else {
      result.missed_image_per_s = std::min(result.missed_image_per_s.value_or(rate), rate);
    }
  }
  return result;
}

}  // namespace paretopipe::stats
