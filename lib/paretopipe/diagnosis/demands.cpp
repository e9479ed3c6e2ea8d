#include <paretopipe/core/error.hpp>
#include <paretopipe/diagnosis/demands.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/stats/breakdown.hpp>
#include <paretopipe/stats/quantile.hpp>
#include <paretopipe/stats/utilisation.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace paretopipe::diagnosis {
namespace {

using Moments = std::vector<std::int64_t>;

Busy busy_of(const std::vector<double>& durations) {
  return {std::accumulate(durations.begin(), durations.end(), 0.0) / static_cast<double>(durations.size()),
          *stats::quantile(durations, 0.9)};
}

/// What a batch passes at the end of a link, and what it left at its beginning.
struct LinkMoments {
  const Moments& send_begin;
  const Moments& header_arrived;
  const Moments& ready;
};

LinkMoments moments_of(const record::PhaseSamples& samples, std::size_t from, bool back) {
  const auto& send_begin = samples.stages[from].send_begin;
  if (back) return {send_begin, samples.results.receive_begin, samples.results.completed};
  return {send_begin, samples.stages[from + 1].receive_begin, samples.stages[from + 1].ready};
}

double time_alone_ns(const LinkMoments& single_stream, int warmup, double delay_ns) {
  std::vector<double> durations;
  for (auto b = static_cast<std::size_t>(warmup); b < single_stream.ready.size(); ++b) {
    durations.push_back(static_cast<double>(single_stream.ready[b] - single_stream.send_begin[b]));
  }
  return std::max(0.0, *stats::median(std::move(durations)) - delay_ns);
}

/// See LinkDemand::busy. `first` is the first batch that counts; there is one before it.
Busy link_busy(const LinkMoments& offline, std::size_t first, double delay_ns, double alone_ns) {
  std::vector<double> durations;
  for (auto b = first; b < offline.ready.size(); ++b) {
    const auto ready = static_cast<double>(offline.ready[b]);
    const auto begin =
        std::max(static_cast<double>(offline.send_begin[b]) + delay_ns, static_cast<double>(offline.ready[b - 1]));
    const auto receiving = ready - static_cast<double>(offline.header_arrived[b]);
    durations.push_back(std::clamp(ready - begin, 0.0, std::max({alone_ns, receiving, 0.0})));
  }
  return busy_of(durations);
}

std::vector<LinkDemand> links_of(const record::TrialRecord& record, std::size_t first) {
  std::vector<LinkDemand> demands;
  for (std::size_t i = 0; i < record.links.size(); ++i) {
    const bool back = i + 1 == record.links.size();
    const auto& link = record.links[i];
    LinkDemand demand{.from = static_cast<int>(i),
                      .to = back ? 0 : static_cast<int>(i) + 1,
                      .payload_bytes = link.payload_bytes,
                      .header_bytes = link.header_bytes};
    if (record.network) {
      const auto& conditions = back ? record.network->read_back.backward : record.network->read_back.forward;
      demand.rate_bit_per_s = conditions.rate_bit_per_s;
      demand.delay_ns = static_cast<double>(conditions.delay.count());
    }
    const auto alone =
        time_alone_ns(moments_of(*record.single_stream, i, back), record.single_stream->warmup, demand.delay_ns);
    demand.busy = link_busy(moments_of(*record.offline, i, back), first, demand.delay_ns, alone);
    demands.push_back(demand);
  }
  return demands;
}

/// As recorded; 0 for a stage that the breakdown does not know.
double idle_compute_ns(const record::Summary& summary, int stage) {
  for (const auto& part : summary.breakdown) {
    if (part.part == record::Part::compute && part.stage == stage) return part.p50_ns;
  }
  return 0;
}

std::vector<StageDemand> stages_of(const record::TrialRecord& record, std::size_t first) {
  std::vector<StageDemand> demands;
  for (std::size_t s = 0; s < record.summary->stages.size(); ++s) {
    const auto& timeline = record.offline->stages[s];
    std::vector<double> durations;
    for (auto b = first; b < timeline.encoded.size(); ++b) {
      durations.push_back(static_cast<double>(timeline.encoded[b] - timeline.compute_begin[b]));
    }
    const auto& recorded = record.summary->stages[s];
    demands.push_back({busy_of(durations), recorded.compute_p50_ns,
                       idle_compute_ns(*record.summary, static_cast<int>(s)), recorded.utilisation});
  }
  return demands;
}

std::optional<double> source_ns(const record::PhaseSamples& offline, std::size_t in_flight) {
  const auto& issued = offline.stages.front().receive_begin;
  const auto& completed = offline.results.completed;
  std::vector<std::int64_t> durations;
  for (std::size_t b = 0; b + in_flight < completed.size(); ++b) {
    durations.push_back(std::max<std::int64_t>(0, issued[b + in_flight] - completed[b]));
  }
  return stats::mean(durations);
}

IdleLatency idle_latency(const record::Summary& summary) {
  IdleLatency latency;
  for (const auto& part : summary.breakdown) {
    auto& place = part.part == record::Part::compute    ? latency.compute_ns
                  : part.part == record::Part::transfer ? latency.transfer_ns
                                                        : latency.other_ns;
    place += part.mean_ns;
  }
  return latency;
}

bool share_cpus(const record::TrialRecord& record) {
  std::vector<int> seen;
  for (const auto& stage : record.stages) {
    if (stage.cpus.empty() || stage.blocks.empty()) continue;
    const auto cpus = host::parse_cpu_list(stage.cpus);
    if (std::find_first_of(seen.begin(), seen.end(), cpus.begin(), cpus.end()) != seen.end()) return true;
    seen.insert(seen.end(), cpus.begin(), cpus.end());
  }
  return false;
}

void require_measured(const record::TrialRecord& record) {
  if (record.status != record::Status::ok || !record.summary || !record.single_stream || !record.offline) {
    throw UsageError("the record holds no measurement that counts, so there is nothing to diagnose");
  }
  stats::breakdown(*record.single_stream);  // refuse damaged samples
  stats::breakdown(*record.offline);
  const auto stages = static_cast<std::size_t>(record.trial.all_local() ? 1 : record.trial.stage_count());
  const auto took_part = [&](const record::PhaseSamples& phase) {
    return static_cast<std::size_t>(stats::stage_count(phase)) == stages;
  };
  const bool fits = took_part(*record.single_stream) && took_part(*record.offline) &&
                    record.summary->stages.size() == stages && record.links.size() == (stages == 1 ? 0 : stages);
  if (!fits)
    throw UsageError("the record is damaged: its trial, phases, links and summary are of different numbers of stages");
}

/// The median over `items` of a number that `read` finds in each.
template <class Items, class Read>
double median_of(const Items& items, Read read) {
  std::vector<double> values;
  std::transform(items.begin(), items.end(), std::back_inserter(values), read);
  return *stats::median(std::move(values));
}

}  // namespace

double Demands::unqueued_ns() const {
  double sum = source_ns.value_or(0);
  for (const auto& stage : stages) sum += stage.busy.mean_ns;
  for (const auto& link : links) sum += link.delay_ns + link.busy.mean_ns;
  return sum;
}

Demands demands_of(const record::TrialRecord& record) {
  require_measured(record);
  const auto window = stats::completion_window(*record.offline);
  const auto first = static_cast<std::size_t>(record.offline->warmup) + 1;
  const auto in_flight = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, record.offline->depth)), 1,
                                                 record.offline->results.completed.size());
  return {.batch = record.trial.batch,
          .in_flight = static_cast<int>(in_flight),
          .batches = static_cast<double>(window.batches - 1),
          .throughput_image_per_s = record.summary->throughput_image_per_s,
          .stages = stages_of(record, first),
          .links = links_of(record, first),
          .source_ns = source_ns(*record.offline, in_flight),
          .idle = idle_latency(*record.summary),
          .stages_share_cpus = share_cpus(record)};
}

Demands median_demands(std::span<const Demands> repetitions) {
  if (repetitions.empty()) throw std::invalid_argument("the median of no repetitions");
  auto result = repetitions.front();
  const auto settle = [&](auto locate) {
    *locate(result) = median_of(repetitions, [&](const Demands& one) { return *locate(one); });
  };
  settle([](auto& one) { return &one.batches; });
  settle([](auto& one) { return &one.throughput_image_per_s; });
  settle([](auto& one) { return &one.idle.compute_ns; });
  settle([](auto& one) { return &one.idle.transfer_ns; });
  settle([](auto& one) { return &one.idle.other_ns; });
  for (std::size_t s = 0; s < result.stages.size(); ++s) {
    settle([s](auto& one) { return &one.stages.at(s).busy.mean_ns; });
    settle([s](auto& one) { return &one.stages.at(s).busy.p90_ns; });
    settle([s](auto& one) { return &one.stages.at(s).compute_p50_ns; });
    settle([s](auto& one) { return &one.stages.at(s).idle_compute_ns; });
    settle([s](auto& one) { return &one.stages.at(s).utilisation; });
  }
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    settle([i](auto& one) { return &one.links.at(i).busy.mean_ns; });
    settle([i](auto& one) { return &one.links.at(i).busy.p90_ns; });
  }
  std::vector<double> turns;
  for (const auto& one : repetitions) {
    if (one.source_ns) turns.push_back(*one.source_ns);
    result.stages_share_cpus |= one.stages_share_cpus;
  }
  result.source_ns = stats::median(std::move(turns));
  return result;
}

}  // namespace paretopipe::diagnosis
