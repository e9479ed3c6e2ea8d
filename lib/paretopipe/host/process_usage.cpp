#include <paretopipe/host/proc_text.hpp>
#include <paretopipe/host/process_usage.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include <sys/resource.h>

#include <fmt/format.h>

namespace paretopipe::host {

namespace {

std::int64_t nanoseconds(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::int64_t>(time.tv_usec) * 1'000;
}

}  // namespace

ProcessUsage read_process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);  // fails only for an unknown `who`
  return {.user_time_ns = nanoseconds(usage.ru_utime),
          .system_time_ns = nanoseconds(usage.ru_stime),
          .minor_page_faults = usage.ru_minflt,
          .major_page_faults = usage.ru_majflt,
          .voluntary_context_switches = usage.ru_nvcsw,
          .involuntary_context_switches = usage.ru_nivcsw};
}

ProcessUsage operator-(const ProcessUsage& after, const ProcessUsage& before) {
  return {.user_time_ns = after.user_time_ns - before.user_time_ns,
          .system_time_ns = after.system_time_ns - before.system_time_ns,
          .minor_page_faults = after.minor_page_faults - before.minor_page_faults,
          .major_page_faults = after.major_page_faults - before.major_page_faults,
          .voluntary_context_switches = after.voluntary_context_switches - before.voluntary_context_switches,
          .involuntary_context_switches = after.involuntary_context_switches - before.involuntary_context_switches};
}

ProcessUsage operator+(const ProcessUsage& left, const ProcessUsage& right) {
  return left - (ProcessUsage{} - right);
}

std::optional<ProcessState> read_process_state(pid_t process) {
  return parse_process_state(read_text(fmt::format("/proc/{}/stat", process)).value_or(""));
}

/// The second field is a name in parentheses and may contain anything. User and system time are fields 14 and 15.
std::optional<ProcessState> parse_process_state(std::string_view stat) {
  constexpr int kFieldsBetween = 10;  // between the state and user time
  const auto name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  std::istringstream fields{std::string(stat.substr(name_end + 1))};
  ProcessState result;
  std::string skipped;
  fields >> result.state;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  std::int64_t user = 0;
  std::int64_t system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  result.cpu_time_ns = (user + system) * kTickNs;
  return result;
}

bool reset_peak_rss() {
  std::ofstream clear_refs("/proc/self/clear_refs");
  clear_refs << "5" << std::flush;
  return clear_refs.good();
}

std::optional<std::int64_t> read_peak_rss_bytes() {
  return parse_kilobyte_field(read_text("/proc/self/status").value_or(""), "VmHWM");
}

}  // namespace paretopipe::host
