#include <paretopipe/core/units.hpp>
#include <paretopipe/host/judgements.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace paretopipe::host {
namespace {

constexpr int kStages = 2;

CpuSet all_cpus(const std::vector<CpuSet>& cores) {
  CpuSet cpus;
  for (const auto& core : cores) cpus.insert(cpus.end(), core.begin(), core.end());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

bool shares_a_core(const std::vector<CpuSet>& cores, const std::vector<CpuSet>& stages) {
  return std::any_of(cores.begin(), cores.end(), [&](const CpuSet& core) {
    const auto on_core = [&](const CpuSet& stage) {
      return std::find_first_of(stage.begin(), stage.end(), core.begin(), core.end()) != stage.end();
    };
    return std::count_if(stages.begin(), stages.end(), on_core) > 1;
  });
}

Finding judge_count(const std::vector<CpuSet>& cores) {
  const auto cpus = all_cpus(cores);
  Finding finding{.name = "cores",
                  .level = Level::ok,
                  .observed = fmt::format("{} core(s), CPUs {}", cores.size(), to_string(cpus)),
                  .why = "two stages that share a core take turns: neither computes as fast as on a device of its own",
                  .remedy = ""};
  if (cores.size() < kStages) {
    finding.level = Level::warning;
    finding.remedy = "use a machine, or a container, with two cores or more; do not trust throughput from this one";
  }
  return finding;
}

/// Many machines number the second threads of all cores after the first ones, so that the lower and the upper half of
/// the CPUs are the same cores.
Finding judge_siblings(const std::vector<CpuSet>& cores) {
  const bool threaded = std::any_of(cores.begin(), cores.end(), [](const CpuSet& core) { return core.size() > 1; });
  Finding finding{
      .name = "sibling threads",
      .level = Level::ok,
      .observed = threaded ? "cores run several threads; the stages get cores of their own" : "one thread a core",
      .why = "threads of one core share its arithmetic units: a stage slows the other down",
      .remedy = ""};
  if (cores.size() >= kStages && shares_a_core(cores, deal_cpus(all_cpus(cores), kStages))) {
    const auto half = cores.begin() + static_cast<std::ptrdiff_t>(cores.size() / kStages);
    finding.level = Level::warning;
    finding.observed = "dealt out in order, CPUs of one core go to both stages";
    finding.remedy = fmt::format("give each stage whole cores: --cpus {} --cpus {}",
                                 to_string(all_cpus({cores.begin(), half})), to_string(all_cpus({half, cores.end()})));
  }
  return finding;
}

Finding judge_quota(double quota, const std::vector<CpuSet>& cores) {
  const auto count = all_cpus(cores).size();
  const bool enough = quota >= static_cast<double>(count);
  return {
      .name = "CPU quota",
      .level = enough ? Level::ok : Level::warning,
      .observed = fmt::format("the control group may use {:.2f} of {} CPUs", quota, count),
      .why = "who has used up the quota is stopped for the rest of every period, in the middle of a batch",
      .remedy = enough ? "" : "start the container without a CPU limit, and bind it to CPUs instead (--cpuset-cpus)"};
}

Finding judge_governor(const std::string& governor) {
  const bool fixed = governor == "performance";
  return {.name = "frequency governor",
          .level = fixed ? Level::ok : Level::warning,
          .observed = governor,
          .why = "a governor that follows the load lowers the clock while a stage waits for the network",
          .remedy = fixed ? "" : "sudo cpupower frequency-set --governor performance (package linux-cpupower)"};
}

Finding judge_turbo(bool on) {
  return {.name = "turbo",
          .level = on ? Level::note : Level::ok,
          .observed = on ? "on" : "off",
          .why = "the clock depends on temperature and on how many cores are busy, so stages slow each other down",
          .remedy = on ? "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, or "
                         "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
                       : ""};
}

Finding judge_virtual_machine(bool virtual_machine, std::optional<double> steal) {
  Finding finding{.name = "virtual machine",
                  .level = Level::ok,
                  .observed = virtual_machine ? "yes" : "no",
                  .why = "neighbours on the same hardware change the speed of this machine, unseen by its own tools",
                  .remedy = ""};
  if (virtual_machine) finding.level = Level::note;
  if (steal) finding.observed += fmt::format(", {:.1f} % of the CPU time stolen since boot", *steal * 100);
  if (steal.value_or(0) > 0.01) finding.level = Level::warning;
  if (finding.level != Level::ok) finding.remedy = "repeat more often (--repeat 10), or use dedicated hardware";
  return finding;
}

Finding judge_load(double load, const std::vector<CpuSet>& cores) {
  const double idle = static_cast<double>(cores.size()) - load;
  Finding finding{.name = "load",
                  .level = Level::ok,
                  .observed = fmt::format("{:.2f} over the last minute, {} core(s)", load, cores.size()),
                  .why = "whatever else runs takes time from the stages",
                  .remedy = ""};
  // A shell and its services cause a load of up to half a process over the last minute.
  if (load > 0.5) {
    finding.level = idle < kStages ? Level::warning : Level::note;
    finding.remedy = "end other programs, and wait for a minute after a build";
  }
  return finding;
}

Finding judge_clock(const std::string& clocksource, std::int64_t read_ns) {
  const bool cheap = read_ns < 1'000;
  return {.name = "clock",
          .level = cheap ? Level::ok : Level::warning,
          .observed = fmt::format("{}, {} a reading", clocksource.empty() ? "unknown source" : clocksource,
                                  format_duration(static_cast<double>(read_ns))),
          .why = "the clock is read eight times a batch in every stage",
          .remedy =
              cheap ? "" : "choose a faster one of /sys/devices/system/clocksource/clocksource0/available_clocksource"};
}

}  // namespace

std::vector<Finding> judge_cpus(const Observations& seen) {
  std::vector<Finding> findings{judge_count(seen.cores), judge_siblings(seen.cores)};
  if (seen.cpu_quota) findings.push_back(judge_quota(*seen.cpu_quota, seen.cores));
  if (seen.governor) findings.push_back(judge_governor(*seen.governor));
  if (seen.turbo) findings.push_back(judge_turbo(*seen.turbo));
  findings.push_back(judge_virtual_machine(seen.virtual_machine, seen.steal));
  findings.push_back(judge_load(seen.load_average_1min, seen.cores));
  findings.push_back(judge_clock(seen.clocksource, seen.clock_read_ns));
  return findings;
}

}  // namespace paretopipe::host
