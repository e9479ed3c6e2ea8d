#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/cgroup.hpp>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cgroup_files.hpp"

namespace paretopipe::launch {
namespace {

constexpr std::string_view kPrefix = "paretopipe-";

/// The PID in "paretopipe-123-device0"; 0 for any other name.
pid_t maker_of(std::string_view name) {
  pid_t pid = 0;
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end != name.data() + name.size() && *end == '-' ? pid : 0;
}

/// Removes the cgroups of ended drivers. The kernel removes only cgroups without processes, so nothing that is still in
/// use can be hit.
void remove_left_behind(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const auto maker = maker_of(entry.path().filename().string());
    if (maker > 0 && ::kill(maker, 0) != 0 && errno == ESRCH) ::rmdir(entry.path().c_str());
  }
}

CgroupPlace place_of(const std::string& controller) {
  try {
    return find_cgroup(controller, read_cgroup_file("/proc/self/cgroup"), read_cgroup_file("/proc/self/mountinfo"));
  } catch (const EnvironmentError& error) {
    refuse_cgroup(error.what());
  }
}

/// "+cpu +memory"
std::string switched(char sign, const std::vector<std::string>& controllers) {
  std::string text;
  for (const auto& controller : controllers) text += fmt::format("{}{}{}", text.empty() ? "" : " ", sign, controller);
  return text;
}

/// Writes for destructors and recovery, which must not throw. A failure leaves the file as it is.
void try_to_write(const std::filesystem::path& file, const std::string& text) noexcept {
  try {
    write_cgroup_file(file, text);
  } catch (const std::exception&) {  // the cgroup stays, empty; the next driver's start removes it
  }
}

}  // namespace

CgroupParents::CgroupParents(bool cpu, bool memory) {
  if (cpu) cpu_ = place_of("cpu");
  if (memory) memory_ = place_of("memory");
  for (const auto* place : {&cpu_, &memory_}) {
    if (*place) remove_left_behind((*place)->folder);
  }
  // v2 has only one hierarchy, so handing down once is enough.
  for (const auto* place : {&cpu_, &memory_}) {
    if (!*place || (*place)->version != CgroupVersion::v2) continue;
    hand_down((*place)->folder);
    break;
  }
}

void CgroupParents::hand_down(const std::filesystem::path& folder) {
  const auto available = read_cgroup_file(folder / "cgroup.controllers");
  const auto handed_down = read_cgroup_file(folder / "cgroup.subtree_control");
  std::vector<std::string> missing;
  const auto need = [&](const char* controller, const std::optional<CgroupPlace>& place) {
    if (!place || place->version != CgroupVersion::v2 || has_word(handed_down, controller)) return;
    if (!has_word(available, controller)) {
      refuse_cgroup(fmt::format("the cgroup {} (v2) does not have the controller {}, which is not delegated to it",
                                folder.string(), controller));
    }
    missing.emplace_back(controller);
  };
  need("cpu", cpu_);
  need("memory", memory_);
  if (missing.empty()) return;
  const auto control = folder / "cgroup.subtree_control";
  try {
    write_cgroup_file(control, switched('+', missing));
  } catch (const EnvironmentError&) {  // this process may be in the way; move it to a leaf
    const auto leaf = folder / fmt::format("{}{}-driver", kPrefix, ::getpid());
    if (::mkdir(leaf.c_str(), 0755) != 0) refuse_cgroup(fmt::format("make the cgroup {}", leaf.string()), errno);
    try {
      write_cgroup_file(leaf / "cgroup.procs", "0");
      write_cgroup_file(control, switched('+', missing));
    } catch (const EnvironmentError&) {
      try_to_write(folder / "cgroup.procs", "0");
      ::rmdir(leaf.c_str());
      throw;
    }
    own_leaf_ = leaf;
  }
  handed_down_in_ = folder;
  added_ = missing;
}

CgroupParents::~CgroupParents() {
  if (handed_down_in_.empty()) return;
  // The order matters: a cgroup that hands controllers down takes no process back.
  try_to_write(handed_down_in_ / "cgroup.subtree_control", switched('-', added_));
  if (own_leaf_.empty()) return;
  try_to_write(handed_down_in_ / "cgroup.procs", "0");
  ::rmdir(own_leaf_.c_str());
}

}  // namespace paretopipe::launch
