#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/architecture.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/deploy.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/launch/launcher.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <span>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::launch {

namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMark = "PARETOPIPE ";
/// A device that takes no byte and sends none for so long is gone.
constexpr auto kPatience = std::chrono::seconds(60);
constexpr int kEndTimeoutMs = 4000;

using Answers = std::vector<std::pair<std::string, std::string>>;

/// A script that runs on a device. Its stdin is a file of ours, and its stdout comes back.
class RemoteScript {
 public:
  RemoteScript(const Reach& reach, const std::string& script) : reach_(reach) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw system_error("make a link to a device", errno);
    }
    stream_ = FileDescriptor(ends[0]);
    FileDescriptor theirs(ends[1]);
    const std::vector<std::string> command{"sh", "-c", script};
    child_.emplace(ChildCommand{.argv = with_found_program(
                                    reach.launcher.empty() ? command : command_over(reach.launcher, command)),
                                .control_is_stdio = true},
                   std::move(theirs));
  }

  /// An interrupted script sees the end of its input and clears away what it made.
  ~RemoteScript() {
    ::shutdown(stream_.get(), SHUT_WR);
    child_->end(kEndTimeoutMs);
  }
  RemoteScript(const RemoteScript&) = delete;
  RemoteScript& operator=(const RemoteScript&) = delete;

  /// Gives the script the file's bytes, or as many as it takes: one that has given up says why in its answers.
  void feed(const fs::path& file) {
    const FileDescriptor source(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (source.get() < 0) throw system_error(fmt::format("read {}", file.string()), errno);
    std::vector<char> buffer(std::size_t{1} << 18);
    for (;;) {
      const auto got = ::read(source.get(), buffer.data(), buffer.size());
      if (got < 0) throw system_error(fmt::format("read {}", file.string()), errno);
      if (got == 0 || !write_all({buffer.data(), static_cast<std::size_t>(got)})) return;
    }
  }

  /// Waits for the script's end and returns its answers. Throws EnvironmentError if it did not end with status 0.
  Answers finish() {
    ::shutdown(stream_.get(), SHUT_WR);
    std::string output;
    std::array<char, 4096> piece{};
    for (;;) {
      wait_for(POLLIN);
      const auto got = ::read(stream_.get(), piece.data(), piece.size());
      if (got <= 0) break;
      output.append(piece.data(), static_cast<std::size_t>(got));
    }
    const auto how = child_->end(kEndTimeoutMs);
    if (!child_->succeeded()) fail("cannot be reached", how);
    return parse_answers(output);
  }

  /// `how` is how the launcher ended, if that says more.
  [[noreturn]] void fail(const std::string& what, const std::string& how = "") const {
    const auto printed = child_->last_output();
    throw EnvironmentError(fmt::format("{} {}{}{}", reach_.name, what,
                                       how.empty() ? "" : fmt::format(": {} {}", program(), how),
                                       printed.empty() ? "" : fmt::format("; its last output: {}", printed)));
  }

 private:
  std::string program() const {
    return reach_.launcher.empty() ? "sh" : fs::path(reach_.launcher.front()).filename().string();
  }

  bool write_all(std::span<const char> bytes) {
    while (!bytes.empty()) {
      wait_for(POLLOUT);
      const auto sent = ::send(stream_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (sent < 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }

  void wait_for(short event) {
    std::array events{pollfd{stream_.get(), event, 0}};
    const auto deadline = Clock::now() + kPatience;
    if (poll_interruptibly(events, deadline, reach_.interrupt_descriptor, "wait for " + reach_.name) > 0) return;
    fail(fmt::format("did not answer for {} s", kPatience.count()));
  }

  const Reach& reach_;
  FileDescriptor stream_;
  std::optional<ChildProcess> child_;
};

/// The value of the first answer with that key; none without one.
std::optional<std::string> find(const Answers& answers, std::string_view key) {
  const auto found = std::find_if(answers.begin(), answers.end(), [&](const auto& one) { return one.first == key; });
  return found == answers.end() ? std::nullopt : std::optional(found->second);
}

/// Answers: architecture, folder, and "has" with the name of every program that is there as it should be.
Answers ask_what_is_there(const Reach& reach, const std::vector<Deployed>& programs) {
  auto script = fmt::format(
      "paretopipe_dir=\"{0}\"; echo \"{1}folder ${{paretopipe_dir:?{2}}}\"; echo \"{1}architecture $(uname -m)\"",
      program_folder(programs.front().sha256), kMark, kUnquoted);
  for (const auto& program : programs) {
    script += fmt::format(
        "; if [ -x \"${{paretopipe_dir:?}}/{0}\" ]; then paretopipe_sum=$(sha256sum <\"${{paretopipe_dir:?}}/{0}\"); "
        "[ \"${{paretopipe_sum%% *}}\" != {1} ] || echo \"{2}has {0}\"; fi",
        program.name, program.sha256, kMark);
  }
  RemoteScript remote(reach, script);
  auto answers = remote.finish();
  if (!find(answers, "architecture")) remote.fail("did not say what it is; its login must allow commands");
  return answers;
}

/// The file arrives under a temporary name. It is renamed only if it is whole and finds its libraries. In every other
/// case the trap removes it, along with folders that are then empty.
std::string copy_script(const std::string& sha256_of_folder, const Deployed& program) {
  return fmt::format(
      "paretopipe_dir=\"{0}\"; paretopipe_copy=\"${{paretopipe_dir:?{4}}}/.{1}.$$\"; "
      "trap 'rm -f \"${{paretopipe_copy:?}}\"; "
      "rmdir \"${{paretopipe_dir:?}}\" \"${{paretopipe_dir%/*}}\" \"${{paretopipe_dir%/*/*}}\" 2>/dev/null; exit 0' "
      "EXIT; "
      "trap 'exit 1' HUP INT PIPE TERM; "
      "if mkdir -p \"${{paretopipe_dir:?}}\" && cat >\"${{paretopipe_copy:?}}\"; then :; "
      "else echo \"{2}unwritable $paretopipe_dir\"; exit; fi; "
      "paretopipe_sum=$(sha256sum <\"$paretopipe_copy\"); "
      "if [ \"${{paretopipe_sum%% *}}\" != {3} ]; then echo \"{2}damaged $paretopipe_copy\"; exit; fi; "
      "chmod 755 \"$paretopipe_copy\"; paretopipe_lacks=$(ldd \"$paretopipe_copy\" 2>&1 | grep \"not found\"); "
      "if [ -n \"$paretopipe_lacks\" ]; then echo \"$paretopipe_lacks\" | sed \"s/^/{2}missing /\"; exit; fi; "
      "mv -f \"$paretopipe_copy\" \"$paretopipe_dir/{1}\" && echo \"{2}done $paretopipe_dir\"",
      program_folder(sha256_of_folder), program.name, kMark, program.sha256, kUnquoted);
}

/// Makes "libfmt.so.9 (Debian's package libfmt9)" of ldd's line "libfmt.so.9 => not found". Returns other lines, such
/// as those about versions of the C library, as they are.
std::string describe_missing(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t");
  const auto arrow = line.find(" => ");
  if (begin == std::string::npos || arrow == std::string::npos) return line;
  const auto library = line.substr(begin, arrow - begin);
  const auto package = debian_package_of(library);
  return package.empty() ? library : fmt::format("{} (Debian's package {})", library, package);
}

void copy(const Reach& reach, const std::string& sha256_of_folder, const Deployed& program) {
  RemoteScript remote(reach, copy_script(sha256_of_folder, program));
  remote.feed(program.file);
  const auto answers = remote.finish();
  if (find(answers, "done")) return;
  if (const auto folder = find(answers, "unwritable"))
    remote.fail(
        fmt::format("has no room or no right to write in {}: make room, or let its login write there", *folder));
  std::vector<std::string> missing;
  for (const auto& [key, value] : answers) {
    if (key == "missing") missing.push_back(describe_missing(value));
  }
  if (missing.empty()) remote.fail(fmt::format("did not get {} whole; try again", program.name));
  throw EnvironmentError(fmt::format(
      "{} lacks what {} needs: {}; install it there (the copy was removed), or build paretopipe on a device "
      "with the same release of the system",
      reach.name, program.name, fmt::join(missing, ", ")));
}

}  // namespace

std::vector<Deployed> programs_to_deploy(const fs::path& stage_program) {
  std::vector<Deployed> programs{{stage_program, "paretopipe-stage", sha256_of_file(stage_program)}};
  const auto driver = stage_program.parent_path() / "paretopipe";
  std::error_code unknown;
  if (fs::is_regular_file(driver, unknown)) programs.push_back({driver, "paretopipe", sha256_of_file(driver)});
  return programs;
}

Deployment deploy(const Reach& reach, const std::vector<Deployed>& programs) {
  const auto answers = ask_what_is_there(reach, programs);
  const auto architecture = *find(answers, "architecture");
  if (architecture != own_architecture()) {
    throw EnvironmentError(fmt::format(
        "{} is of architecture {}, and the programs here are for {}; install {} there (`cmake --build BUILD_DIR "
        "--target package` makes it, in a build for that architecture)",
        reach.name, architecture, own_architecture(), own_package(architecture)));
  }
  Deployment deployment{find(answers, "folder").value_or(""), {}};
  for (const auto& program : programs) {
    const std::pair<std::string, std::string> there{"has", program.name};
    if (std::find(answers.begin(), answers.end(), there) != answers.end()) continue;
    copy(reach, programs.front().sha256, program);
    deployment.copied.push_back(program.name);
  }
  return deployment;
}

std::int64_t clean_cache(const Reach& reach) {
  RemoteScript remote(reach,
                      fmt::format("paretopipe_dir=\"{0}\"; [ ! -d \"${{paretopipe_dir:?{2}}}\" ] || "
                                  "find \"${{paretopipe_dir:?}}\" -type f -exec stat -c \"{1}bytes %s\" {{}} +; "
                                  "if rm -rf \"${{paretopipe_dir:?}}\"; then echo \"{1}done $paretopipe_dir\"; fi",
                                  cache_folder(), kMark, kUnquoted));
  const auto answers = remote.finish();
  if (!find(answers, "done")) remote.fail("does not let its cache be removed");
  std::int64_t sum = 0;
  for (const auto& [key, value] : answers) {
    if (key == "bytes") sum += parse_number<std::int64_t>(value).value_or(0);
  }
  return sum;
}

std::string own_package(std::string_view architecture) {
  static const std::map<std::string, std::string, std::less<>> kDebian{{"x86_64", "amd64"}, {"aarch64", "arm64"}};
  const auto debian = kDebian.find(architecture);
  if (debian == kDebian.end()) return fmt::format("a paretopipe that was built for {}", architecture);
  return fmt::format("paretopipe_{}_{}.deb", version(), debian->second);
}

std::string debian_package_of(std::string_view library) {
  // Packages that are not named after their library.
  static const std::map<std::string, std::string, std::less<>> kOthers{
      {"libcrypto.so.3", "libssl3"}, {"libjpeg.so.62", "libjpeg62-turbo"}, {"libz.so.1", "zlib1g"}};
  if (const auto other = kOthers.find(library); other != kOthers.end()) return other->second;
  constexpr std::string_view kVersion = ".so.";
  const auto at = library.find(kVersion);
  if (at == std::string_view::npos || at == 0) return "";
  const auto name = library.substr(0, at);
  const auto version = library.substr(at + kVersion.size());
  if (name == "libc10" || name.starts_with("libtorch")) return fmt::format("libtorch{}", version);
  const bool ends_in_digit = name.back() >= '0' && name.back() <= '9';
  return fmt::format("{}{}{}", name, ends_in_digit ? "-" : "", version);
}

std::vector<std::pair<std::string, std::string>> parse_answers(std::string_view output) {
  Answers answers;
  for (auto line : split(output, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    const auto key = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), key.size() + 1));
    answers.emplace_back(key, line);
  }
  return answers;
}

}  // namespace paretopipe::launch
