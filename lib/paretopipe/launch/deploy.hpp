#pragma once
#include <paretopipe/core/clock.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Copies programs into a device's cache, where guard_command (launcher.hpp) looks for them first, and empties the
// cache. What runs on the device is one line of shell. It uses sh, cat, chmod, find, grep, ldd, mkdir, mv, rm, rmdir,
// sed, sha256sum, stat and uname, so nothing has to be installed.
namespace paretopipe::launch {

/// A machine to run a command on.
struct Reach {
  std::string name{};                   ///< in messages
  std::vector<std::string> launcher{};  ///< a command whose stdin and stdout reach it; empty: this machine
  int interrupt_descriptor = -1;        ///< readable when a person wants to stop; -1: nobody can
};

/// A file to copy.
struct Deployed {
  std::filesystem::path file{};
  std::string name{};    ///< on the device
  std::string sha256{};  ///< of the contents
};

struct Deployment {
  std::string folder{};               ///< on the device
  std::vector<std::string> copied{};  ///< names; empty: all were there already
};

/// The stage program, under the name that guard_command looks for, and the driver if it lies beside it.
std::vector<Deployed> programs_to_deploy(const std::filesystem::path& stage_program);

/// Copies `programs` into program_folder() of the first one's SHA-256. A program appears there whole and executable, or
/// not at all. A copy that fails leaves nothing behind. Throws EnvironmentError if the device is of another
/// architecture, lacks the libraries that a program needs, has no room, grants no right to write, or is out of reach.
/// Throws Interrupted.
Deployment deploy(const Reach& reach, const std::vector<Deployed>& programs);

/// Removes what is in the device's cache. Returns the bytes that its files had. Throws likewise.
std::int64_t clean_cache(const Reach& reach);

/// The Debian package that has a library, by Debian's rule for names (Debian Policy, 8.1): "libfmt9" for "libfmt.so.9",
/// "libpng16-16" for "libpng16.so.16". Empty if the name is not of this form.
std::string debian_package_of(std::string_view library);

/// The file name of Debian's package of this release, for an architecture as `uname -m` names it:
/// "paretopipe_0.1.0_arm64.deb". A description of what is needed if there is no such package.
std::string own_package(std::string_view architecture);

/// The key and value of every line "PARETOPIPE <key> <value>" that a script printed. Skips other lines, such as a
/// login's.
std::vector<std::pair<std::string, std::string>> parse_answers(std::string_view output);

}  // namespace paretopipe::launch
