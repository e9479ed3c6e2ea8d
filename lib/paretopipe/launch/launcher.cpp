#include <paretopipe/core/text.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/launcher.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::launch {

std::vector<std::string> ssh_to(const std::string& destination) {
  return {"ssh",      "-T",
          "-o",       "BatchMode=yes",
          "-o",       "ConnectTimeout=10",
          "-o",       "ServerAliveInterval=2",
          "-o",       "ServerAliveCountMax=3",
          "-o",       "ClearAllForwardings=yes",
          destination};
}

namespace {

/// The number of shells that read the command, one after each ssh of the launcher, wherever that stands in it. A last
/// word "ssh" is a host's name, because ssh needs one. A word such as "--volume=/etc/ssh" starts nothing.
std::ptrdiff_t shells_behind(const std::vector<std::string>& launcher) {
  return std::count_if(launcher.begin(), std::prev(launcher.end()), [](const std::string& word) {
    return std::filesystem::path(word).filename() == "ssh" && word.find_first_of("=:") == std::string::npos;
  });
}

}  // namespace

std::vector<std::string> command_over(std::vector<std::string> launcher, const std::vector<std::string>& command) {
  const auto shells = shells_behind(launcher);
  for (auto word : command) {
    for (std::ptrdiff_t shell = 0; shell < shells; ++shell) word = quoted_for_shell(word);
    launcher.push_back(std::move(word));
  }
  return launcher;
}

std::vector<std::string> with_found_program(std::vector<std::string> command) {
  auto& program = command.front();
  if (program.find('/') == std::string::npos) {
    program = find_program(program, program == "ssh" ? "openssh-client" : "").string();
  }
  return command;
}

std::string cache_folder() {
  return "${XDG_CACHE_HOME:-$HOME/.cache}/paretopipe";
}

std::string program_folder(const std::string& sha256) {
  return fmt::format("{}/programs/{}", cache_folder(), sha256);
}

std::vector<std::string> guard_command(const std::string& program, const std::string& sha256) {
  if (!program.empty()) return {program, "guard"};
  const auto script = fmt::format(
      "paretopipe_program=\"{}/paretopipe-stage\"; "
      "[ -x \"${{paretopipe_program:?{}}}\" ] || paretopipe_program=paretopipe-stage; "
      "exec \"${{paretopipe_program:?}}\" guard",
      program_folder(sha256), kUnquoted);
  return {"sh", "-c", script};
}

}  // namespace paretopipe::launch
