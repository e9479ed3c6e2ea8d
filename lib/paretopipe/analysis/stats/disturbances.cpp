#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::stats {

int leading_slow(std::span<const std::int64_t> durations_ns) {
  if (durations_ns.size() < 8) return 0;
  const auto half = durations_ns.size() / 2;
  const auto fence = *outer_fence_ns(durations_ns.subspan(half));
  const auto settled = std::find_if(durations_ns.begin(), durations_ns.begin() + static_cast<std::ptrdiff_t>(half),
                                    [&](auto duration) { return static_cast<double>(duration) <= fence; });
  return static_cast<int>(settled - durations_ns.begin());
}

int settled_latency_warmup(const record::PhaseSamples& single_stream) {
  return single_stream.warmup + leading_slow(measured_latencies_ns(single_stream));
}

int settled_throughput_warmup(const record::PhaseSamples& offline) {
  return offline.warmup + leading_slow(measured_intervals_ns(offline));
}

namespace {

/// `first`: the number of the batch that the first duration belongs to.
std::vector<int> far_out(const std::vector<std::int64_t>& durations_ns, int first) {
  std::vector<int> batches;
  const auto fence = outer_fence_ns(durations_ns);
  for (std::size_t i = 0; fence && i < durations_ns.size(); ++i) {
    if (static_cast<double>(durations_ns[i]) > *fence) batches.push_back(first + static_cast<int>(i));
  }
  return batches;
}

}  // namespace

record::Outliers find_outliers(const std::optional<record::PhaseSamples>& single_stream,
                               const std::optional<record::PhaseSamples>& offline) {
  record::Outliers outliers;
  if (single_stream) outliers.single_stream = far_out(measured_latencies_ns(*single_stream), single_stream->warmup);
  if (offline) outliers.offline = far_out(measured_intervals_ns(*offline), offline->warmup + 1);
  return outliers;
}

namespace {

constexpr double kNoticeableShare = 0.10;
constexpr double kNoticeableSpeedChange = 1.15;
constexpr std::int64_t kTwoTicksNs = 20'000'000;

bool noticeable(std::int64_t part_ns, const host::CpuTime& time) {
  return static_cast<double>(part_ns - kTwoTicksNs) > kNoticeableShare * static_cast<double>(time.wall_ns);
}

/// Capped at 100: the kernel counts in ticks, which may exceed a short time.
double percent(std::int64_t part_ns, const host::CpuTime& time) {
  return std::min(100.0, 100 * static_cast<double>(part_ns) / static_cast<double>(time.wall_ns));
}

std::int64_t used_ns(const record::StageReport& stage) {
  return stage.usage.user_time_ns + stage.usage.system_time_ns;
}

/// CPU time on `stage`'s CPUs that no stage of this pipeline can have used. Where stages share some of their CPUs, all
/// that the other one used may have been on these.
std::int64_t used_by_others_ns(const record::TrialRecord& record, const record::StageReport& stage) {
  auto others = stage.conditions->time->busy_ns;
  for (const auto& neighbour : record.stages) {
    if (share_cpus(neighbour, stage)) others -= used_ns(neighbour);
  }
  return others;
}

void add_contention(std::vector<std::string>& found, const record::TrialRecord& record, std::size_t index) {
  const auto& stage = record.stages[index];
  if (!stage.conditions->time) return;
  const auto& time = *stage.conditions->time;
  // The relay of an emulated network is our own process, on any free CPU.
  const auto others = record.trial.shaping == experiment::Shaping::emulated ? 0 : used_by_others_ns(record, stage);
  if (noticeable(others, time)) {
    found.push_back(
        fmt::format("other processes used {:.0f} % of stage {}'s CPUs ({})", percent(others, time), index, stage.cpus));
  }
  if (noticeable(time.stolen_ns, time)) {
    found.push_back(fmt::format("the virtual machine's host took {:.0f} % of stage {}'s CPUs ({})",
                                percent(time.stolen_ns, time), index, stage.cpus));
  }
}

void add_change_of_speed(std::vector<std::string>& found, const host::CpuConditions& conditions, std::size_t index) {
  const auto [fast, slow] = std::minmax(conditions.probe_before_ns, conditions.probe_after_ns);
  if (static_cast<double>(slow) <= kNoticeableSpeedChange * static_cast<double>(fast)) return;
  found.push_back(fmt::format("stage {}'s core became {:.0f} % {} during the trial", index,
                              100 * (static_cast<double>(slow) / static_cast<double>(fast) - 1),
                              slow == conditions.probe_after_ns ? "slower" : "faster"));
}

/// Adds the limits that a Raspberry Pi reports to have reached during the trial because of heat or its power supply.
void add_throttling(std::vector<std::string>& found, const host::CpuConditions& conditions, std::size_t index) {
  if (!conditions.throttled_before || !conditions.throttled_after) return;
  const auto bits = *conditions.throttled_after & ~*conditions.throttled_before;
  const auto limits = host::describe_throttling((bits | bits >> 16U) & 0xFU);  // those "since boot" are new, too
  if (limits.empty()) return;
  found.push_back(
      fmt::format("stage {}'s machine reached a limit during the trial: {}", index, fmt::join(limits, ", ")));
}

}  // namespace

bool share_cpus(const record::StageReport& one, const record::StageReport& other) {
  if (one.host.boot_id != other.host.boot_id) return false;
  if (one.cpus == other.cpus) return true;
  if (one.cpus.empty() || other.cpus.empty()) return false;
  const auto cpus = host::parse_cpu_list(one.cpus);
  const auto others = host::parse_cpu_list(other.cpus);
  return std::find_first_of(cpus.begin(), cpus.end(), others.begin(), others.end()) != cpus.end();
}

bool held_to_quota(const record::StageReport& stage) {
  return stage.emulated_device && stage.emulated_device->cpu_quota;
}

std::vector<std::string> disturbances(const record::TrialRecord& record) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& stage = record.stages[i];
    if (stage.conditions) {
      add_contention(found, record, i);
      if (!held_to_quota(stage)) add_change_of_speed(found, *stage.conditions, i);
      add_throttling(found, *stage.conditions, i);
    }
    // A stage with an intentional memory limit reads its program's pages repeatedly.
    if (stage.usage.major_page_faults > 0 && !(stage.emulated_device && stage.emulated_device->memory_limit_bytes)) {
      found.push_back(fmt::format(
          "stage {} waited {} for pages from disk", i,
          stage.usage.major_page_faults == 1 ? "once" : fmt::format("{} times", stage.usage.major_page_faults)));
    }
  }
  return found;
}

namespace {

using Values = std::vector<double>;

/// The most groups that a long series is divided into: enough for a tenth of a trial, few enough to try every cut.
constexpr std::size_t kMostGroups = 128;

/// A rise below this share of the phase's largest rise is an effect of that rise.
constexpr double kLeastShare = 0.25;

/// The share of each part that must be on its side.
constexpr double kMost = 0.9;

/// The medians of groups of `size` neighbours. The last durations are left out if too few for a group.
Values medians_of_groups(std::span<const std::int64_t> durations_ns, std::size_t size) {
  Values medians;
  for (std::size_t begin = 0; begin + size <= durations_ns.size(); begin += size) {
    const auto group = durations_ns.subspan(begin, size);
    medians.push_back(*median(Values(group.begin(), group.end())));
  }
  return medians;
}

double distance_from_median(std::span<const double> part) {
  const double middle = *median(Values(part.begin(), part.end()));
  double sum = 0;
  for (const double value : part) sum += std::abs(value - middle);
  return sum;
}

/// `values` must be long enough for two parts.
std::size_t best_cut(std::span<const double> values) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (auto cut = kLeastDurations; cut + kLeastDurations <= values.size(); ++cut) {
    const double distance = distance_from_median(values.first(cut)) + distance_from_median(values.subspan(cut));
    if (distance < least) {
      least = distance;
      best = cut;
    }
  }
  return best;
}

/// The times that a stage's computing thread took for every measured batch.
Series compute_times_ns(const record::PhaseSamples& samples, const StageTimeline& stage) {
  auto times = sums_over_micro_batches(differences(stage.encoded, stage.compute_begin), samples.micro_batches);
  times.erase(times.begin(), times.begin() + samples.warmup);
  return times;
}

void add_rise(std::vector<record::SlowDown>& found, record::SlowDown place, const Series& times, int warmup) {
  const auto rise = find_rise(times);
  if (!rise) return;
  place.batch = warmup + rise->first;
  place.before_ns = rise->before_ns;
  place.after_ns = rise->after_ns;
  found.push_back(place);
}

double rise_ns(const record::SlowDown& slow) {
  return slow.after_ns - slow.before_ns;
}

/// Drops small rises: a stage that waits for a slowed-down one finds its caches cold, which is no slow-down of its own.
void drop_effects(std::vector<record::SlowDown>& found) {
  double largest = 0;
  for (const auto& one : found) largest = std::max(largest, rise_ns(one));
  std::erase_if(found, [largest](const auto& one) { return rise_ns(one) < kLeastShare * largest; });
}

std::vector<record::SlowDown> find_in_phase(const record::PhaseSamples& samples, bool offline) {
  std::vector<record::SlowDown> found;
  breakdown(samples);  // refuses damaged samples
  for (int stage = 0; samples.devices == 1 && stage < static_cast<int>(samples.stages.size()); ++stage) {
    const auto times = compute_times_ns(samples, samples.stages[static_cast<std::size_t>(stage)]);
    add_rise(found, {.offline = offline, .stage = stage}, times, samples.warmup);
  }
  for (int device = 0; samples.devices > 1 && device < samples.devices; ++device) {
    const auto own = of_device(samples, device);
    add_rise(found, {.offline = offline, .stage = device}, compute_times_ns(own, own.stages.back()), own.warmup);
  }
  drop_effects(found);
  return found;
}

}  // namespace

std::optional<Rise> find_rise(std::span<const std::int64_t> durations_ns) {
  const auto group = std::max<std::size_t>(1, durations_ns.size() / kMostGroups);
  const auto values = medians_of_groups(durations_ns, group);
  if (values.size() < 2 * kLeastDurations) return std::nullopt;
  const auto cut = best_cut(values);
  const Values before(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(cut));
  const Values after(values.begin() + static_cast<std::ptrdiff_t>(cut), values.end());
  const Rise rise{static_cast<int>(cut * group), *median(before), *median(after)};
  const bool apart = *quantile(after, 1 - kMost) > *quantile(before, kMost);
  const bool much = rise.after_ns >= kRise * rise.before_ns && rise.after_ns >= rise.before_ns + kLeastRiseNs;
  return apart && much ? std::optional(rise) : std::nullopt;
}

std::vector<record::SlowDown> find_slow_downs(const std::optional<record::PhaseSamples>& single_stream,
                                              const std::optional<record::PhaseSamples>& offline) {
  std::vector<record::SlowDown> found;
  if (single_stream) found = find_in_phase(*single_stream, false);
  if (!offline) return found;
  for (const auto& one : find_in_phase(*offline, true)) found.push_back(one);
  return found;
}

std::vector<std::string> slow_down_sentences(const record::TrialRecord& record) {
  std::vector<std::string> sentences;
  for (const auto& one : record.slow_downs) {
    sentences.push_back(fmt::format("stage {} took {:.2g} times as long for a batch from {} {} of the {} run on",
                                    one.stage, one.after_ns / one.before_ns,
                                    record.trial.data_parallel > 0 ? "its batch" : "batch", one.batch,
                                    one.offline ? "throughput" : "latency"));
  }
  return sentences;
}

}  // namespace paretopipe::stats
