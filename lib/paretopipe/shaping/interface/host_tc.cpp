#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/command.hpp>
#include <paretopipe/shaping/interface/host_tc.hpp>

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

namespace paretopipe::shaping {
namespace {

constexpr int kTimeoutMs = 10'000;

bool says(const std::string& output, std::string_view words) {
  return output.find(words) != std::string::npos;
}

/// The kernel module that is missing, by the word of the command that names it.
std::string module_of(const Command& command) {
  struct Module {
    const char* word;
    const char* name;
  };
  constexpr std::array modules{Module{"netem", "sch_netem"}, Module{"tbf", "sch_tbf"}, Module{"htb", "sch_htb"},
                               Module{"u32", "cls_u32"}};
  for (const auto& [word, name] : modules) {
    if (std::find(command.begin(), command.end(), word) != command.end()) return name;
  }
  return {};
}

std::string advice(const Command& command, const std::string& output) {
  if (says(output, "Operation not permitted") || says(output, "Permission denied")) {
    return "; run it as root (sudo), or with the capability NET_ADMIN";
  }
  if (says(output, "Cannot find device")) return "; `ip link` lists the interfaces there are";
  const bool unknown = says(output, "Specified qdisc") || says(output, "Unknown qdisc") ||
                       says(output, "TC classifier not found") || says(output, "Specified filter");
  if (const auto module = module_of(command); unknown && !module.empty()) {
    return fmt::format("; this kernel lacks it: load its module (sudo modprobe {}), or use a kernel that has it",
                       module);
  }
  return {};
}

}  // namespace

std::string run_tc(const Command& command) {
  launch::ChildCommand child;
  child.argv = command;
  child.argv.front() = launch::find_program(command.front(), "iproute2").string();
  auto result = launch::run_command(child, kTimeoutMs);
  if (!result.succeeded) {
    while (result.output.ends_with('\n')) result.output.pop_back();
    throw EnvironmentError(fmt::format("run \"{}\": it {}: {}{}", fmt::join(command, " "), result.how_it_ended,
                                       result.output, advice(command, result.output)));
  }
  return result.output;
}

}  // namespace paretopipe::shaping
