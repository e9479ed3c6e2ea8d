#include <paretopipe/run/slow_windows.hpp>
#include <paretopipe/stats/disturbances.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::run {
namespace {

/// A trial that is slower than this is not comparable with the others.
constexpr double kSlow = 1.15;

std::string core_of(const record::StageReport& stage) {
  return stage.host.boot_id + " " + stage.cpus;
}

/// The faster of the two probes: a change during the trial is a disturbance of its own.
std::int64_t probe_ns(const record::StageReport& stage) {
  return std::min(stage.conditions->probe_before_ns, stage.conditions->probe_after_ns);
}

}  // namespace

std::vector<std::string> SlowWindows::judge(const record::TrialRecord& record) {
  if (record.status != record::Status::ok) return {};
  auto reasons = stats::disturbances(record);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& stage = record.stages[i];
    if (!stage.conditions || stats::held_to_quota(stage)) continue;
    const auto probe = probe_ns(stage);
    auto& fastest = fastest_probe_ns_.try_emplace(core_of(stage), probe).first->second;
    fastest = std::min(fastest, probe);
    const double slowdown = static_cast<double>(probe) / static_cast<double>(fastest);
    if (slowdown > kSlow) {
      reasons.push_back(
          fmt::format("stage {}'s core was {:.0f} % slower than it has been in this sweep", i, 100 * (slowdown - 1)));
    }
  }
  return reasons;
}

void SlowWindows::accept(const record::TrialRecord& record) {
  for (const auto& stage : record.stages) {
    if (stage.conditions && !stats::held_to_quota(stage)) fastest_probe_ns_[core_of(stage)] = probe_ns(stage);
  }
}

}  // namespace paretopipe::run
