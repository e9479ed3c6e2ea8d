#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/launcher.hpp>

#include <filesystem>

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

std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char character : text) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

std::vector<std::string> command_over(std::vector<std::string> launcher, const std::vector<std::string>& command) {
  const bool through_shell = std::filesystem::path(launcher.front()).filename() == "ssh";
  for (const auto& word : command) launcher.push_back(through_shell ? quoted_for_shell(word) : word);
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
  const auto script = fmt::format("p=\"{}/paretopipe-stage\"; [ -x \"$p\" ] || p=paretopipe-stage; exec \"$p\" guard",
                                  program_folder(sha256));
  return {"sh", "-c", script};
}

}  // namespace paretopipe::launch
