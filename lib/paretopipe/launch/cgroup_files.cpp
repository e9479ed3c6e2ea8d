#include "cgroup_files.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/file_descriptor.hpp>

#include <array>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

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

std::optional<std::int64_t> find_count(std::string_view text, std::string_view key) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ') continue;
    const auto number = line.substr(key.size() + 1);
    std::int64_t count = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), count).ec == std::errc()) return count;
  }
  return std::nullopt;
}

bool has_word(std::string_view text, std::string_view word) {
  constexpr std::string_view kBlanks = " \n";
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(kBlanks), text.size());
    if (text.substr(0, end) == word) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace paretopipe::launch
