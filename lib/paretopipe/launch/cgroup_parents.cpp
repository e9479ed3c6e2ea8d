#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/launch/cgroup.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cgroup_files.hpp"

namespace paretopipe::launch {

namespace {

constexpr const char* kMend =
    "run as root (in a container: one that may write to /sys/fs/cgroup), or, with cgroup v2, give the command a cgroup "
    "of its own: systemd-run --user --scope -p Delegate=yes COMMAND; or leave cpu_quota and memory_limit out of the "
    "device profile";

}  // namespace

void refuse_cgroup(const std::string& why) {
  throw EnvironmentError(fmt::format("emulate a device: {}; {}", why, kMend));
}

void refuse_cgroup(const std::string& attempt, int error) {
  refuse_cgroup(system_error(attempt, error).what());
}

std::string read_cgroup_file(const std::filesystem::path& file) {
  const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> part{};
  ssize_t got = descriptor.get() < 0 ? -1 : 1;
  while (got > 0) {
    got = ::read(descriptor.get(), part.data(), part.size());
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  }
  if (got < 0) refuse_cgroup(fmt::format("read {}", file.string()), errno);
  return text;
}

void write_cgroup_file(const std::filesystem::path& file, const std::string& text) {
  const FileDescriptor descriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (descriptor.get() >= 0 && ::write(descriptor.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return;
  refuse_cgroup(fmt::format("write \"{}\" to {}", text, file.string()), errno);
}

namespace {

/// True if a word occurs in a list such as "cpuset cpu memory".
bool has_word(std::string_view text, std::string_view word) {
  return std::ranges::count(split(trimmed(text, " \n"), ' '), word) > 0;
}

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

/// Returns false if processes of the cgroup are in the way: the kernel then refuses, or makes it a cgroup for threads,
/// whose children take no processes (cgroups(7), "thread mode").
bool hand_down_beside(const std::filesystem::path& folder, const std::vector<std::string>& controllers) {
  const auto control = folder / "cgroup.subtree_control", type = folder / "cgroup.type";
  try {
    write_cgroup_file(control, switched('+', controllers));
    const bool is_root = !std::filesystem::exists(type);
    if (is_root || !read_cgroup_file(type).starts_with("domain threaded")) return true;
  } catch (const EnvironmentError&) {
    return false;
  }
  try_to_write(control, switched('-', controllers));
  return false;
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
  if (!hand_down_beside(folder, missing)) {  // this process may be in the way; move it to a leaf
    const auto leaf = folder / fmt::format("{}{}-driver", kPrefix, ::getpid());
    if (::mkdir(leaf.c_str(), 0755) != 0) refuse_cgroup(fmt::format("make the cgroup {}", leaf.string()), errno);
    try {
      write_cgroup_file(leaf / "cgroup.procs", "0");
      write_cgroup_file(folder / "cgroup.subtree_control", switched('+', missing));
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
