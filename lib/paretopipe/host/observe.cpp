#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/host/control_groups.hpp>
#include <paretopipe/host/observe.hpp>
#include <paretopipe/host/proc_text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <spawn.h>

namespace paretopipe::host {

namespace fs = std::filesystem;
namespace {

bool is_there(const fs::path& file) {
  std::error_code ignored;  // a folder without permission counts as missing
  return fs::exists(file, ignored);
}

/// Groups CPUs by physical core. A CPU whose core cannot be read forms a group of its own.
std::vector<CpuSet> group_by_core(const CpuSet& cpus, const fs::path& root) {
  std::vector<CpuSet> cores;
  for (const int cpu : cpus) {
    const auto file = root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu);
    const auto siblings = parse_number_list(read_text(file).value_or(""), kMaxCpus - 1).value_or(CpuSet{cpu});
    const auto core = std::find_if(cores.begin(), cores.end(), [&](const CpuSet& known) {
      return std::find(siblings.begin(), siblings.end(), known.front()) != siblings.end();
    });
    if (core == cores.end()) {
      cores.push_back({cpu});
    } else {
      core->push_back(cpu);
    }
  }
  return cores;
}

std::optional<double> quota_of(const fs::path& group) {
  if (const auto limit = read_text(group / "cpu.max")) return parse_cpu_max(*limit);
  return parse_cpu_max(fmt::format("{} {}", read_text(group / "cpu.cfs_quota_us").value_or(""),
                                   read_text(group / "cpu.cfs_period_us").value_or("")));
}

/// Reads the governor of the CPUs that this process may use. If they differ, returns one that lets clocks change, and
/// its CPUs.
std::optional<std::string> read_governor(const fs::path& root) {
  std::map<std::string, CpuSet> governed;
  for (const int cpu : current_affinity()) {
    const auto file = root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu);
    if (const auto governor = read_text(file)) governed[*governor].push_back(cpu);
  }
  if (governed.empty()) return std::nullopt;
  const auto found =
      std::find_if(governed.begin(), governed.end(), [](const auto& one) { return one.first != kPerformance; });
  if (found == governed.end() || governed.size() == 1) return governed.begin()->first;
  return fmt::format("{} on CPUs {}", found->first, to_string(found->second));
}

std::optional<bool> read_turbo(const fs::path& root) {
  if (const auto no_turbo = read_text(root / "sys/devices/system/cpu/intel_pstate/no_turbo")) return *no_turbo == "0";
  if (const auto boost = read_text(root / "sys/devices/system/cpu/cpufreq/boost")) return *boost == "1";
  return std::nullopt;
}

/// Names that hypervisors give to their machines, or to the vendor of these. systemd-detect-virt(1) looks for the same
/// names in the same files.
constexpr auto kHypervisors = std::to_array<std::string_view>(
    {"Amazon EC2", "Apple Virtualization", "BHYVE", "Bochs", "Google Compute Engine", "Hyper-V", "KVM", "KubeVirt",
     "OpenStack", "Parallels", "QEMU", "VMW", "VMware", "VirtualBox", "Xen"});

/// Reads the firmware's tables, which PCs have, and servers of every architecture.
bool firmware_names_hypervisor(const fs::path& root) {
  const auto dmi = root / "sys/class/dmi/id";
  const auto product = read_text(dmi / "product_name").value_or("");
  const auto vendor = read_text(dmi / "sys_vendor").value_or("");
  if (product.ends_with(".metal") || product.find(".metal-") != std::string::npos) return false;  // a whole EC2 machine
  if (vendor == "Microsoft Corporation" && product == "Virtual Machine") return true;
  if (vendor == "innotek GmbH") return true;  // VirtualBox
  const auto names = {product, vendor, read_text(dmi / "board_vendor").value_or(""),
                      read_text(dmi / "bios_vendor").value_or("")};
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return std::any_of(kHypervisors.begin(), kHypervisors.end(),
                       [&](std::string_view hypervisor) { return name.starts_with(hypervisor); });
  });
}

/// ARM and POWER have a device tree instead: KVM, Xen and VMware add a node to it, and QEMU its configuration device.
bool device_tree_names_hypervisor(const fs::path& root) {
  const auto tree = root / "proc/device-tree";
  if (is_there(tree / "hypervisor")) return true;
  if (read_text(tree / "compatible").value_or("").find("qemu,") != std::string::npos) return true;
  std::error_code none;
  for (const auto& node : fs::directory_iterator(tree, none)) {
    if (node.path().filename().string().starts_with("fw-cfg")) return true;
  }
  return read_text(tree / "model").value_or("") == "linux,dummy-virt";
}

/// x86 has a CPU flag for it. On other architectures, only the hypervisor's description of the machine shows it.
bool is_virtual_machine(const fs::path& root) {
  const auto flags = find_field(read_text(root / "proc/cpuinfo").value_or(""), "flags").value_or("");
  return (" " + flags + " ").find(" hypervisor ") != std::string::npos || is_there(root / "sys/hypervisor/type") ||
         firmware_names_hypervisor(root) || device_tree_names_hypervisor(root);
}

/// The median over a few batches of readings, so that an interrupted batch does not count.
std::int64_t measure_clock_read() {
  constexpr int kReadings = 100;
  std::array<std::int64_t, 9> costs{};
  for (auto& cost : costs) {
    const auto begin = now_ns();
    for (int reading = 1; reading < kReadings; ++reading) static_cast<void>(now_ns());
    cost = (now_ns() - begin) / kReadings;
  }
  std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
  return costs[costs.size() / 2];
}

/// Those of `programs` that are neither in PATH nor in the folders of system programs.
std::vector<std::string> find_missing(const std::vector<std::string>& programs, const fs::path& root) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  std::vector<std::string> missing = programs;
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::erase_if(missing, [&](const std::string& program) {
      return is_there(root / fs::path(folder).relative_path() / program);
    });
  }
  return missing;
}

void observe_cpus(Observations& seen, const fs::path& root) {
  seen.cores = group_by_core(current_affinity(), root);
  seen.cpu_quota = tightest_limit("cpu", quota_of, root);
  seen.governor = read_governor(root);
  seen.turbo = read_turbo(root);
  seen.virtual_machine = is_virtual_machine(root);
  seen.steal = parse_steal(read_text(root / "proc/stat").value_or(""));
  seen.thermal = read_thermal_state(current_affinity(), root);
  seen.load_average_1min = parse_load_average(read_text(root / "proc/loadavg").value_or("")).value_or(0);
  seen.clocksource = read_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource").value_or("");
  seen.clock_read_ns = measure_clock_read();
}

void observe_memory(Observations& seen, const fs::path& root) {
  const auto memory = read_text(root / "proc/meminfo").value_or("");
  seen.available_memory_bytes = usable_memory_bytes(root);
  seen.swap_used_bytes =
      parse_kilobyte_field(memory, "SwapTotal").value_or(0) - parse_kilobyte_field(memory, "SwapFree").value_or(0);
  seen.huge_pages = parse_chosen(read_text(root / "sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
}

}  // namespace

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto quota = parse_number<std::int64_t>(text.substr(0, blank));
  const auto period = parse_number<std::int64_t>(text.substr(blank + 1));
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> parse_steal(std::string_view stat) {
  constexpr std::int64_t kEnough = 10'000'000'000 / kTickNs;
  const auto ticks = parse_ticks(stat.substr(0, stat.find('\n')), "cpu");
  if (!ticks || ticks->busy + ticks->stolen < kEnough) return std::nullopt;
  return static_cast<double>(ticks->stolen) / static_cast<double>(ticks->busy + ticks->stolen);
}

std::optional<std::string> parse_chosen(std::string_view text) {
  const auto open = text.find('[');
  const auto close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos || close == open + 1) return std::nullopt;
  return std::string(text.substr(open + 1, close - open - 1));
}

Observations observe(const std::optional<fs::path>& stage_program, const fs::path& root) {
  Observations seen;
  if (stage_program) {
    seen.stage_program = stage_program->string();
    if (const auto libraries = read_loaded_libraries(*stage_program)) {
      seen.missing_libraries = libraries->missing;
      seen.blas = find_blas(libraries->found);
    }
  }
  seen.fashion_mnist = is_there(root / "usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz");
  seen.missing_programs = find_missing({"ip", "tc"}, root);
  observe_cpus(seen, root);
  observe_memory(seen, root);
  return seen;
}

namespace {

/// The standard output of `program`, run without arguments and with `variable` added to its environment. Absent if it
/// fails.
std::optional<std::string> output_of(const std::filesystem::path& program, std::string variable) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);

  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.insert(environment.end(), {variable.data(), nullptr});
  std::string name = program.string();
  std::array<char*, 2> arguments{name.data(), nullptr};
  pid_t child = -1;
  const int error = posix_spawn(&child, name.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);

  std::string output;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; error == 0 && (count = ::read(pipe[0], piece.data(), piece.size())) > 0;) {
    output.append(piece.data(), static_cast<std::size_t>(count));
  }
  ::close(pipe[0]);
  int status = -1;
  if (error != 0 || ::waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return output;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

bool name_contains(const std::filesystem::path& name, std::string_view part) {
  return lower_case(name.string()).find(part) != std::string::npos;
}

/// True for a library of that name, and for a libblas in a folder of that name, as alternatives of Debian are.
bool is_library_of(const std::filesystem::path& path, std::string_view part) {
  const auto name = path.filename();
  return name_contains(name, part) ||
         (name_contains(name, "libblas") && name_contains(path.parent_path().filename(), part));
}

}  // namespace

LoadedLibraries parse_loaded_libraries(std::string_view text) {
  constexpr std::string_view kArrow = " => ";
  LoadedLibraries libraries;
  for (const auto line : split(text, '\n')) {
    const auto arrow = line.find(kArrow);
    if (arrow == std::string_view::npos) continue;
    const auto begin = std::min(line.find_first_not_of(" \t"), arrow);
    const auto name = line.substr(begin, arrow - begin);
    const auto target = line.substr(arrow + kArrow.size());
    if (target.starts_with("not found")) libraries.missing.emplace_back(name);
    if (target.starts_with('/')) libraries.found.emplace_back(target.substr(0, target.rfind(" (")));
  }
  return libraries;
}

std::optional<LoadedLibraries> read_loaded_libraries(const std::filesystem::path& program) {
  const auto output = output_of(program, "LD_TRACE_LOADED_OBJECTS=1");
  if (!output) return std::nullopt;
  auto libraries = parse_loaded_libraries(*output);
  for (auto& library : libraries.found) {
    std::error_code ignored;
    if (auto resolved = std::filesystem::canonical(library, ignored); !ignored) library = std::move(resolved);
  }
  return libraries;
}

std::optional<Blas> find_blas(const std::vector<std::filesystem::path>& libraries) {
  const auto find = [&](std::string_view part) {
    return std::find_if(libraries.begin(), libraries.end(),
                        [&](const auto& path) { return is_library_of(path, part); });
  };
  if (find("libtorch") == libraries.end()) return std::nullopt;
  for (const auto* optimised : {"openblas", "mkl", "blis", "atlas", "armpl", "flexiblas"}) {
    if (const auto found = find(optimised); found != libraries.end()) {
      return Blas{.kind = Blas::Kind::optimised, .library = found->string()};
    }
  }
  const auto plain = find("libblas.so");
  if (plain == libraries.end()) return Blas{};
  return Blas{.kind = Blas::Kind::reference, .library = plain->string()};
}

}  // namespace paretopipe::host
