#include <paretopipe/core/text.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/host/proc_text.hpp>

#include <filesystem>
#include <system_error>

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace paretopipe::host {

namespace {

/// Boards without a BIOS are named by their device tree.
std::optional<std::string> read_board(const std::filesystem::path& root) {
  auto board = read_text(root / "proc/device-tree/model");
  if (board && board->empty()) board.reset();
  return board;
}

}  // namespace

bool same_kind_of_cpu(const HostContext& a, const HostContext& b) {
  return a.architecture == b.architecture && a.cpu_model == b.cpu_model;
}

bool share_steady_clock(const HostContext& a, const HostContext& b) {
  return !a.boot_id.empty() && a.boot_id == b.boot_id && a.time_namespace == b.time_namespace;
}

HostContext read_host_context(const std::filesystem::path& root) {
  HostContext context;
  utsname names{};
  if (uname(&names) == 0) {
    context.hostname = names.nodename;
    context.kernel = fmt::format("{} {}", names.sysname, names.release);
    context.architecture = names.machine;
  }
  context.boot_id = read_text(root / "proc/sys/kernel/random/boot_id").value_or("");
  std::error_code unknown;
  context.time_namespace = std::filesystem::read_symlink(root / "proc/self/ns/time", unknown).string();
  for (const auto* file : {"etc/os-release", "usr/lib/os-release"}) {
    if (context.os.empty()) context.os = parse_os_name(read_text(root / file).value_or("")).value_or("");
  }
  context.cpu_model = parse_cpu_model(read_text(root / "proc/cpuinfo").value_or("")).value_or("");
  context.board = read_board(root);
  context.cpu_count = get_nprocs();
  context.memory_bytes = parse_kilobyte_field(read_text(root / "proc/meminfo").value_or(""), "MemTotal").value_or(0);
  context.governor = read_text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return context;
}

HostState read_host_state() {
  HostState state;
  state.load_average_1min = parse_load_average(read_text("/proc/loadavg").value_or("")).value_or(0);
  state.available_memory_bytes =
      parse_kilobyte_field(read_text("/proc/meminfo").value_or(""), "MemAvailable").value_or(0);
  const auto kilohertz = read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
  if (const auto value = parse_number<std::int64_t>(kilohertz.value_or(""))) state.cpu_frequency_hz = *value * 1000;
  return state;
}

}  // namespace paretopipe::host
