#include <paretopipe/analysis/diagnosis/demands.hpp>
#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>

namespace paretopipe::diagnosis {

namespace {

using Moments = std::vector<std::int64_t>;

/// `durations` has one entry per micro-batch.
Busy busy_of(const std::vector<std::int64_t>& durations, int micro_batches) {
  const auto sums = stats::sums_over_micro_batches(durations, micro_batches);
  return {*stats::mean(sums), *stats::quantile({sums.begin(), sums.end()}, 0.9)};
}

/// The durations from `begin` to `end` of every micro-batch from `first` on.
std::vector<std::int64_t> durations(const Moments& begin, const Moments& end, std::size_t first) {
  std::vector<std::int64_t> result;
  for (auto i = first; i < begin.size(); ++i) result.push_back(end[i] - begin[i]);
  return result;
}

/// The moments of a micro-batch at the end of a link, and the one at which the sender began to send it.
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

/// The median time of a transfer that is alone on the link, less the delay. It uses only the first micro-batch of each
/// batch, because the others follow directly behind.
std::int64_t time_alone_ns(const record::PhaseSamples& single_stream, std::size_t from, bool back,
                           std::int64_t delay_ns) {
  const auto moments = moments_of(single_stream, from, back);
  const auto micro_batches = static_cast<std::size_t>(single_stream.micro_batches);
  std::vector<double> times;
  for (auto i = static_cast<std::size_t>(single_stream.warmup) * micro_batches; i < moments.ready.size();
       i += micro_batches) {
    times.push_back(static_cast<double>(moments.ready[i] - moments.send_begin[i]));
  }
  return std::max<std::int64_t>(0, std::llround(*stats::median(std::move(times))) - delay_ns);
}

/// See LinkDemand::busy. `first` is the first micro-batch that counts; at least one precedes it.
std::vector<std::int64_t> link_busy(const LinkMoments& offline, std::size_t first, std::int64_t delay_ns,
                                    std::int64_t alone_ns) {
  std::vector<std::int64_t> result;
  for (auto i = first; i < offline.ready.size(); ++i) {
    const auto begin = std::max(offline.send_begin[i] + delay_ns, offline.ready[i - 1]);
    const auto receiving = offline.ready[i] - offline.header_arrived[i];
    const auto most = std::max({alone_ns, receiving, std::int64_t{0}});
    result.push_back(std::clamp(offline.ready[i] - begin, std::int64_t{0}, most));
  }
  return result;
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
    std::int64_t delay_ns = 0;
    if (record.network) {
      const auto way = experiment::way_between(record.trial.placement, demand.from, demand.to);
      const auto conditions = experiment::along(record.network->read_back, way).forward;
      demand.rate_bit_per_s = conditions.rate_bit_per_s;
      delay_ns = conditions.delay.count();
    }
    demand.delay_ns = static_cast<double>(delay_ns);
    const auto alone = time_alone_ns(*record.single_stream, i, back, delay_ns);
    demand.busy =
        busy_of(link_busy(moments_of(*record.offline, i, back), first, delay_ns, alone), record.offline->micro_batches);
    if (const auto error = record::clock_error_ns(record, demand.from, demand.to)) {
      demand.clock_error_ns = static_cast<double>(*error * record.offline->micro_batches);
    }
    demands.push_back(demand);
  }
  return demands;
}

double idle_compute_ns(const record::PhaseSamples& single_stream, std::size_t stage) {
  const auto& timeline = single_stream.stages[stage];
  const auto first = static_cast<std::size_t>(single_stream.warmup * single_stream.micro_batches);
  const auto times = stats::sums_over_micro_batches(durations(timeline.compute_begin, timeline.compute_end, first),
                                                    single_stream.micro_batches);
  return *stats::median({times.begin(), times.end()});
}

/// For each micro-batch, the time in which the stage's compute thread or its codec was at it, and at none that began
/// before it.
std::vector<std::int64_t> either_busy(const StageTimeline& timeline, std::size_t first) {
  struct Window {
    std::int64_t begin, end;
    std::size_t micro_batch;
  };
  std::vector<Window> windows;
  for (std::size_t i = 0; i < timeline.encoded.size(); ++i) {
    windows.push_back({timeline.compute_begin[i], timeline.encoded[i], i});
    windows.push_back({timeline.codec_begin[i], timeline.send_begin[i], i});
  }
  std::sort(windows.begin(), windows.end(), [](const auto& one, const auto& other) { return one.begin < other.begin; });
  std::vector<std::int64_t> busy(timeline.encoded.size());
  auto reached = windows.front().begin;
  for (const auto& [begin, end, micro_batch] : windows) {
    busy[micro_batch] += std::max<std::int64_t>(0, end - std::max(begin, reached));
    reached = std::max(reached, end);
  }
  busy.erase(busy.begin(), busy.begin() + static_cast<std::ptrdiff_t>(first));
  return busy;
}

/// If the CPUs are not recorded, nothing says that threads took turns.
bool has_cpu_to_spare(const record::TrialRecord& record, std::size_t stage) {
  if (stage >= record.stages.size() || record.stages[stage].cpus.empty()) return true;
  const auto& device = record.stages[stage].emulated_device;
  return host::has_cpu_to_spare(record.stages[stage].cpus, device ? device->cpu_quota : std::nullopt,
                                record.trial.threads_of(static_cast<int>(stage)));
}

StageDemand stage_of(const record::TrialRecord& record, std::size_t stage, std::size_t first) {
  const auto& timeline = record.offline->stages[stage];
  const auto& recorded = record.summary->stages[stage];
  const auto busy = [&](const std::vector<std::int64_t>& times) {
    return busy_of(times, record.offline->micro_batches);
  };
  StageDemand demand{.busy = busy(durations(timeline.compute_begin, timeline.encoded, first)),
                     .compute_p50_ns = recorded.compute_p50_ns,
                     .idle_compute_ns = idle_compute_ns(*record.single_stream, stage),
                     .utilisation = recorded.utilisation};
  if (timeline.codec_begin == timeline.send_begin) return demand;
  demand.sender_ns = busy(durations(timeline.codec_begin, timeline.send_end, first)).mean_ns;
  if (has_cpu_to_spare(record, stage)) {
    demand.codec = busy(durations(timeline.codec_begin, timeline.send_begin, first));
  } else {
    demand.busy = busy(either_busy(timeline, first));
  }
  return demand;
}

std::vector<StageDemand> stages_of(const record::TrialRecord& record, std::size_t first) {
  std::vector<StageDemand> demands;
  for (std::size_t s = 0; s < record.summary->stages.size(); ++s) demands.push_back(stage_of(record, s, first));
  return demands;
}

std::optional<double> source_ns(const record::PhaseSamples& offline, std::size_t in_flight) {
  const auto issued = stats::of_last_micro_batches(offline.stages.front().receive_begin, offline.micro_batches);
  const auto completed = stats::of_last_micro_batches(offline.results.completed, offline.micro_batches);
  std::vector<std::int64_t> durations;
  for (std::size_t b = 0; b + in_flight < completed.size(); ++b) {
    durations.push_back(std::max<std::int64_t>(0, issued[b + in_flight] - completed[b]));
  }
  return stats::mean(durations);
}

IdleLatency idle_latency(const record::Summary& summary) {
  IdleLatency latency;
  const auto place_of = [&](record::Part part) -> double& {
    switch (part) {
      case record::Part::compute:
        return latency.compute_ns;
      case record::Part::transfer:
        return latency.transfer_ns;
      case record::Part::encode:
      case record::Part::decode:
        return latency.coding_ns;
      default:
        return latency.other_ns;
    }
  };
  for (const auto& part : summary.breakdown) place_of(part.part) += part.mean_ns;
  return latency;
}

/// Of stages that compute, and whose CPUs are known.
bool share_cpus(const record::TrialRecord& record) {
  const auto counts = [](const auto& stage) { return !stage.cpus.empty() && !stage.blocks.empty(); };
  for (auto one = record.stages.begin(); one != record.stages.end(); ++one) {
    if (!counts(*one)) continue;
    if (std::any_of(record.stages.begin(), one,
                    [&](const auto& other) { return counts(other) && stats::share_cpus(*one, other); })) {
      return true;
    }
  }
  return false;
}

void require_measured(const record::TrialRecord& record) {
  if (record.status != record::Status::ok || !record.summary || !record.single_stream || !record.offline) {
    throw UsageError("the record holds no measurement that counts, so there is nothing to diagnose");
  }
  stats::breakdown(*record.single_stream);  // throws for damaged samples
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

std::optional<double> Demands::sequential_image_per_s() const {
  if (idle.total_ns() <= 0) return std::nullopt;
  return batch * 1e9 / idle.total_ns();
}

const StageDemand& Demands::slowest_stage() const {
  return *std::max_element(stages.begin(), stages.end(),
                           [](const auto& left, const auto& right) { return left.busy.mean_ns < right.busy.mean_ns; });
}

double Demands::unqueued_ns() const {
  double sum = 0;
  double largest = 0;
  double delays = 0;
  const auto add = [&](const Busy& busy) {
    sum += busy.mean_ns;
    largest = std::max(largest, busy.mean_ns);
  };
  for (const auto& stage : stages) {
    add(stage.busy);
    add(stage.codec);
  }
  for (const auto& link : links) {
    add(link.busy);
    delays += link.delay_ns;
  }
  return delays + source_ns.value_or(0) + (sum + (micro_batches - 1) * largest) / micro_batches;
}

Demands demands_of(const record::TrialRecord& record) {
  require_measured(record);
  const auto window = stats::completion_window(*record.offline);
  const auto micro_batches = static_cast<std::size_t>(record.offline->micro_batches);
  const auto first = (static_cast<std::size_t>(record.offline->warmup) + 1) * micro_batches;
  const auto in_flight = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, record.offline->depth)), 1,
                                                 record.offline->results.completed.size() / micro_batches);
  return {.batch = record.trial.batch,
          .micro_batches = record.offline->micro_batches,
          .in_flight = static_cast<int>(in_flight),
          .batches = static_cast<double>(window.batches - 1),
          .throughput_image_per_s = record.summary->throughput_image_per_s.value(),
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
  settle([](auto& one) { return &one.idle.coding_ns; });
  settle([](auto& one) { return &one.idle.other_ns; });
  for (std::size_t s = 0; s < result.stages.size(); ++s) {
    settle([s](auto& one) { return &one.stages.at(s).busy.mean_ns; });
    settle([s](auto& one) { return &one.stages.at(s).busy.p90_ns; });
    settle([s](auto& one) { return &one.stages.at(s).codec.mean_ns; });
    settle([s](auto& one) { return &one.stages.at(s).codec.p90_ns; });
    settle([s](auto& one) { return &one.stages.at(s).sender_ns; });
    settle([s](auto& one) { return &one.stages.at(s).compute_p50_ns; });
    settle([s](auto& one) { return &one.stages.at(s).idle_compute_ns; });
    settle([s](auto& one) { return &one.stages.at(s).utilisation; });
  }
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    settle([i](auto& one) { return &one.links.at(i).busy.mean_ns; });
    settle([i](auto& one) { return &one.links.at(i).busy.p90_ns; });
    for (const auto& one : repetitions) {
      // An absent error is less than any number.
      auto& error = result.links[i].clock_error_ns;
      error = std::max(error, one.links.at(i).clock_error_ns);
    }
  }
  std::vector<double> turns;
  for (const auto& one : repetitions) {
    if (one.source_ns) turns.push_back(*one.source_ns);
    result.stages_share_cpus |= one.stages_share_cpus;
  }
  result.source_ns = stats::median(std::move(turns));
  return result;
}

double StepDemands::busy_ns(std::size_t stage) const {
  return stages[stage].busy_ns();
}

std::size_t StepDemands::busiest() const {
  std::size_t most = 0;
  for (std::size_t stage = 1; stage < stages.size(); ++stage) {
    if (busy_ns(stage) > busy_ns(most)) most = stage;
  }
  return most;
}

double StepDemands::filling_ns() const {
  return std::max(0.0, bound_ns() - busy_ns(busiest()));
}

double StepDemands::beyond_ns() const {
  return std::max(0.0, interval_ns() - bound_ns());
}

StepDemands step_demands(std::span<const record::TrialRecord* const> records) {
  using Summary = record::TrainingSummary;
  const auto median = [&](auto value) {
    return median_of(records, [&](const auto* record) { return std::invoke(value, *record->summary->training); });
  };
  StepDemands demands;
  demands.batch = records.front()->trial.batch;
  demands.sample_per_s = median(&Summary::sample_per_s);
  demands.bound_sample_per_s = median(&Summary::bound_sample_per_s);
  demands.bubble = median(&Summary::bubble);
  demands.expected_bubble = median(&Summary::expected_bubble);
  demands.last_loss = median(&Summary::last_loss);
  demands.uncompressed_loss = records.front()->summary->training->uncompressed_loss;  // the same in all repetitions
  demands.step_error_ns = median(&Summary::step_error_ns);
  demands.stages.resize(records.front()->summary->training->stages.size());
  for (const auto* record : records) {
    if (record->summary->training->stages.size() == demands.stages.size()) continue;
    throw UsageError("a record is damaged: two repetitions of one configuration are of different numbers of stages");
  }
  for (std::size_t stage = 0; stage < demands.stages.size(); ++stage) {
    for (const auto part : record::kStepParts) {
      demands.stages[stage].*part = median([&](const Summary& one) { return one.stages[stage].*part; });
    }
  }
  return demands;
}

}  // namespace paretopipe::diagnosis
