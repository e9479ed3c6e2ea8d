#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/command.hpp>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace paretopipe::launch {

CommandResult run_command(const ChildCommand& command, int timeout_ms, FileDescriptor inherited) {
  if (inherited.get() < 0) inherited = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (inherited.get() < 0) throw system_error("open /dev/null", errno);
  ChildProcess child(command, std::move(inherited));
  auto how_it_ended = child.end(timeout_ms);
  return {child.succeeded(), std::move(how_it_ended), child.output()};
}

std::filesystem::path find_program(const std::string& name, const std::string& package) {
  const char* path = std::getenv("PATH");
  std::istringstream folders((path != nullptr ? std::string(path) : std::string()) +
                             ":/usr/local/sbin:/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto program = std::filesystem::path(folder) / name;
    // An empty entry means the current folder, from which no program is started.
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  throw EnvironmentError(fmt::format(
      "the program {} is not installed; install the package {} (sudo apt-get install {})", name, package, package));
}

}  // namespace paretopipe::launch
