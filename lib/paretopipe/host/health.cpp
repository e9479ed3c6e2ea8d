#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/host/health.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::host {

std::vector<Finding> judge(const Observations& seen) {
  std::vector<Finding> findings;
  for (auto&& part : {judge_installation(seen), judge_cpus(seen), judge_thermal(seen.thermal), judge_memory(seen)}) {
    findings.insert(findings.end(), part.begin(), part.end());
  }
  return findings;
}

Level worst(const std::vector<Finding>& findings) {
  Level level = Level::ok;
  for (const auto& finding : findings) level = std::max(level, finding.level);
  return level;
}

namespace {

constexpr Word<Level> kLevels[]{
    {Level::ok, "ok"}, {Level::note, "note"}, {Level::warning, "warning"}, {Level::problem, "problem"}};

Level parse_level(const std::string& word) {
  if (const auto level = find_word(kLevels, word)) return *level;
  throw UsageError(fmt::format("the level {} of a finding is unknown", nlohmann::json(word).dump()));
}

}  // namespace

std::string to_string(Level level) {
  return word_of(kLevels, level);
}

void to_json(nlohmann::json& json, const Finding& finding) {
  json = {{"name", finding.name},
          {"level", to_string(finding.level)},
          {"observed", finding.observed},
          {"why", finding.why},
          {"mend", finding.remedy}};
}

void from_json(const nlohmann::json& json, Finding& finding) {
  json.at("name").get_to(finding.name);
  finding.level = parse_level(json.at("level").get<std::string>());
  json.at("observed").get_to(finding.observed);
  json.at("why").get_to(finding.why);
  json.at("mend").get_to(finding.remedy);
}

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
                  .observed = fmt::format("{} core(s), CPUs {}", cores.size(), to_string(cpus)),
                  .why = "two stages that share a core take turns: neither computes as fast as on a device of its own"};
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
      .observed = threaded ? "cores run several threads; the stages get cores of their own" : "one thread a core",
      .why = "threads of one core share its arithmetic units: a stage slows the other down"};
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
  const bool fixed = governor == kPerformance;
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
                  .observed = virtual_machine ? "yes" : "no",
                  .why = "neighbours on the same hardware change the speed of this machine, unseen by its own tools"};
  if (virtual_machine) finding.level = Level::note;
  if (steal) finding.observed += fmt::format(", {:.1f} % of the CPU time stolen since boot", *steal * 100);
  if (steal.value_or(0) > 0.01) finding.level = Level::warning;
  if (finding.level != Level::ok) finding.remedy = "repeat more often (--repeat 10), or use dedicated hardware";
  return finding;
}

Finding judge_load(double load, const std::vector<CpuSet>& cores) {
  const double idle = static_cast<double>(cores.size()) - load;
  Finding finding{.name = "load",
                  .observed = fmt::format("{:.2f} over the last minute, {} core(s)", load, cores.size()),
                  .why = "whatever else runs takes time from the stages"};
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

namespace {

Finding judge_stage_program(const Observations& seen) {
  Finding finding{.name = "stage program",
                  .observed = seen.stage_program.value_or(seen.stage_program_error),
                  .why = "every stage is a process of this program; without it nothing can be measured"};
  if (!seen.stage_program) {
    finding.level = Level::problem;
    finding.remedy = "scripts/quickstart builds it";
  } else if (!seen.missing_libraries.empty()) {
    finding.level = Level::problem;
    finding.observed += fmt::format(" does not find {}", fmt::join(seen.missing_libraries, ", "));
    finding.remedy = "run scripts/setup, or add the folder of the missing libraries to LD_LIBRARY_PATH";
  }
  return finding;
}

Finding judge_blas(const Blas& blas) {
  Finding finding{
      .name = "BLAS",
      .observed = blas.library,
      .why = "LibTorch leaves matrix products to it: reference BLAS reaches 2 GFLOP/s where OpenBLAS reaches 120"};
  if (blas.kind == Blas::Kind::bundled) finding.observed = "brought along by LibTorch";
  if (blas.kind == Blas::Kind::reference) {
    finding.level = Level::problem;
    finding.observed = fmt::format("reference BLAS ({})", blas.library);
    finding.remedy =
        "sudo apt-get install libopenblas0-openmp; if it is installed, choose it with "
        "update-alternatives --config libblas.so.3-$(gcc -print-multiarch)";
  }
  return finding;
}

Finding judge_data_set(bool present) {
  return {
      .name = "data set",
      .level = present ? Level::ok : Level::warning,
      .observed = present ? "Fashion-MNIST is installed" : "Fashion-MNIST is not installed",
      .why = "it is the default input of a sweep",
      .remedy = present
                    ? ""
                    : "sudo apt-get install dataset-fashion-mnist, or sweep with --data cifar10:DIR or --data random"};
}

Finding judge_network_tools(const std::vector<std::string>& missing) {
  return {
      .name = "network tools",
      .level = missing.empty() ? Level::ok : Level::note,
      .observed = missing.empty() ? "ip and tc are installed" : fmt::format("missing: {}", fmt::join(missing, ", ")),
      .why = "they are needed to measure under a shaped network; the bare network needs neither",
      .remedy = missing.empty() ? "" : "sudo apt-get install iproute2"};
}

}  // namespace

std::vector<Finding> judge_installation(const Observations& seen) {
  std::vector<Finding> findings{judge_stage_program(seen)};
  if (seen.blas) findings.push_back(judge_blas(*seen.blas));
  findings.push_back(judge_data_set(seen.fashion_mnist));
  findings.push_back(judge_network_tools(seen.missing_programs));
  return findings;
}

namespace {

/// A Raspberry Pi begins to slow down here; laptops and servers do so somewhat above.
constexpr double kHotCelsius = 80;

Finding judge_temperature(double celsius) {
  const bool hot = celsius >= kHotCelsius;
  return {.name = "temperature",
          .level = hot ? Level::warning : Level::ok,
          .observed = fmt::format("{:.0f} degrees Celsius", celsius),
          .why = "a hot CPU lowers its clock, so that later trials are slower than earlier ones",
          .remedy = hot ? "cool it with a fan or a heat sink, or let it rest between trials (--rest)" : ""};
}

Finding judge_throttling(std::uint32_t bits) {
  const bool now = is_throttled_now(bits);
  return {.name = "throttling",
          .level = now         ? Level::warning
                   : bits != 0 ? Level::note
                               : Level::ok,
          .observed = bits == 0 ? "none since boot" : fmt::format("{}", fmt::join(describe_throttling(bits), ", ")),
          .why = "the board lowers its clock when its power supply is weak or when it is hot",
          .remedy = bits == 0 ? "" : "use the board's own power supply and a short cable, and cool it"};
}

}  // namespace

std::vector<Finding> judge_thermal(const ThermalState& state) {
  std::vector<Finding> findings;
  if (state.temperature_celsius) findings.push_back(judge_temperature(*state.temperature_celsius));
  if (state.throttled) findings.push_back(judge_throttling(*state.throttled));
  return findings;
}

namespace {

/// The largest model (vgg16) has 0.5 GiB of weights, which are held once as a whole and once more in parts.
constexpr std::int64_t kEnoughMemory = std::int64_t{2} << 30;

/// A few pages in swap belong to sleeping services and do no harm.
constexpr std::int64_t kHarmlessSwap = std::int64_t{64} << 20;

Finding judge_available(std::int64_t bytes) {
  const bool enough = bytes >= kEnoughMemory;
  return {
      .name = "memory",
      .level = enough ? Level::ok : Level::warning,
      .observed = fmt::format("{} available", format_bytes(static_cast<double>(bytes))),
      .why = "the largest models take 1.5 GiB in both stages together; beyond what is there the kernel swaps or kills",
      .remedy = enough ? "" : "end other programs, or measure smaller models and batches"};
}

Finding judge_swap(std::int64_t bytes) {
  const bool harmless = bytes <= kHarmlessSwap;
  return {.name = "swap",
          .level = harmless ? Level::ok : Level::note,
          .observed = fmt::format("{} swapped out", format_bytes(static_cast<double>(bytes))),
          .why = "a page that comes back from swap during a batch costs more than the batch",
          .remedy = harmless ? "" : "free memory, then sudo swapoff -a and sudo swapon -a"};
}

Finding judge_huge_pages(const std::string& mode) {
  const bool never = mode == "never";
  return {.name = "huge pages",
          .level = never ? Level::note : Level::ok,
          .observed = fmt::format("transparent huge pages: {}", mode),
          .why = "activations of megabytes cost a page fault every 4 KiB without them",
          .remedy = never ? "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" : ""};
}

}  // namespace

std::vector<Finding> judge_memory(const Observations& seen) {
  std::vector<Finding> findings{judge_available(seen.available_memory_bytes), judge_swap(seen.swap_used_bytes)};
  if (seen.huge_pages) findings.push_back(judge_huge_pages(*seen.huge_pages));
  return findings;
}

}  // namespace paretopipe::host
