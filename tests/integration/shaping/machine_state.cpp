#include "machine_state.hpp"

#include <paretopipe/launch/child_process.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <sys/stat.h>

#include <support/catch.hpp>

namespace fs = std::filesystem;

namespace paretopipe::support {
namespace {

void note(const fs::path& link, std::set<std::string>& namespaces) {
  std::error_code gone;
  const auto target = fs::read_symlink(link, gone).string();
  if (!gone && target.starts_with("net:[")) namespaces.insert(target);
}

void note_all(const fs::path& folder, std::set<std::string>& namespaces) {
  std::error_code gone;  // processes come and go
  for (auto entry = fs::directory_iterator(folder, gone); !gone && entry != fs::directory_iterator();
       entry.increment(gone)) {
    note(entry->path(), namespaces);
  }
}

std::set<std::string> held_networks() {
  std::set<std::string> networks;
  note_all("/proc/self/fd", networks);
  return networks;
}

/// In which a process is, or to which a descriptor or a mount leads.
std::set<std::string> networks_alive() {
  std::set<std::string> namespaces;
  for (const auto& process : fs::directory_iterator("/proc")) {
    const auto name = process.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
    note_all(process.path() / "fd", namespaces);
    note_all(process.path() / "ns", namespaces);
  }
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (const auto begin = line.find("net:["); begin != std::string::npos) {
      namespaces.insert(line.substr(begin, line.find(']', begin) + 1 - begin));
    }
  }
  return namespaces;
}

std::string run(const std::string& program, std::vector<std::string> arguments) {
  launch::ChildCommand command;
  command.argv = {launch::find_program(program, "iproute2").string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  return launch::run_command(command, 10'000).output;
}

}  // namespace

MachineState machine_state() {
  return {held_networks(), run("ip", {"-o", "link", "show"}), run("tc", {"qdisc", "show"})};
}

ino_t network_id(int descriptor) {
  struct stat status {};
  REQUIRE(::fstat(descriptor, &status) == 0);
  return status.st_ino;
}

bool is_alive(ino_t network) {
  return networks_alive().contains("net:[" + std::to_string(network) + "]");
}

const shaping::Capabilities& capabilities() {
  static const auto found = shaping::find_capabilities();
  return found;
}

void need(const shaping::Ability& ability) {
  if (!ability.works) skip(ability.detail);
}

shaping::NamespaceRing ring_where(const shaping::Ability& ability, std::size_t stages) {
  need(ability);
  return shaping::NamespaceRing(stages);
}

void need_no_netem() {
  if (capabilities().netem.works) skip("this kernel has netem");
}

}  // namespace paretopipe::support
