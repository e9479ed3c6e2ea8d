#include <paretopipe/stats/disturbances.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::stats {
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

/// CPU time on `stage`'s CPUs that no stage of this pipeline used. Stages that share CPUs have the same list of them.
std::int64_t used_by_others_ns(const record::TrialRecord& record, const record::StageReport& stage) {
  auto others = stage.conditions->time->busy_ns;
  for (const auto& neighbour : record.stages) {
    if (neighbour.cpus == stage.cpus && neighbour.host.boot_id == stage.host.boot_id) others -= used_ns(neighbour);
  }
  return others;
}

void add_contention(std::vector<std::string>& found, const record::TrialRecord& record, std::size_t index) {
  const auto& stage = record.stages[index];
  if (!stage.conditions->time) return;
  const auto& time = *stage.conditions->time;
  // The relay of an emulated network is our own process, on any free CPU.
  const auto others = record.trial.shaping == config::Shaping::emulated ? 0 : used_by_others_ns(record, stage);
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

}  // namespace

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

}  // namespace paretopipe::stats
