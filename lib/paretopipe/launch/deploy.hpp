#pragma once
#include <paretopipe/core/clock.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Copies programs into a device's cache, where guard_command (launcher.hpp) looks for them first, and empties it. What
// runs there is one line of shell with sh, cat, find, mv, sha256sum, stat, uname and ldd: nothing has to be installed.
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
  std::string name{};    ///< there
  std::string sha256{};  ///< of the contents
};

struct Deployment {
  std::string folder{};               ///< there
  std::vector<std::string> copied{};  ///< names; empty: all were there already
};

/// The stage program, under the name that guard_command looks for, and the driver if it lies beside it.
std::vector<Deployed> programs_to_deploy(const std::filesystem::path& stage_program);

/// Copies `programs` into program_folder() of the first one's SHA-256. A program appears there whole and executable, or
/// not at all, and whatever fails leaves nothing behind. Throws EnvironmentError for a device of another architecture,
/// without the libraries that a program needs, without room or rights, or out of reach; and Interrupted.
Deployment deploy(const Reach& reach, const std::vector<Deployed>& programs);

/// Removes what is in the device's cache; returns the bytes that its files had. Throws likewise.
std::int64_t clean_cache(const Reach& reach);

/// The Debian package that has a library, by the rule that Debian names them by (Debian Policy, 8.1): "libfmt9" for
/// "libfmt.so.9", "libpng16-16" for "libpng16.so.16". Empty if the name says nothing of it.
std::string debian_package_of(std::string_view library);

/// Debian's package of these programs, of this release, for an architecture as `uname -m` names it.
std::string own_package(std::string_view architecture);

/// The word of every line "PARETOPIPE <key> <value>" of what a script printed, whatever a login prints in between.
std::vector<std::pair<std::string, std::string>> parse_answers(std::string_view output);

}  // namespace paretopipe::launch
