#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>
#include <support/program.hpp>

namespace paretopipe::support {
namespace {

std::string contents(int descriptor) {
  struct stat status {};
  ::fstat(descriptor, &status);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const auto got = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace

Program::Program(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                 const std::filesystem::path& standard_output)
    : output_(standard_output.empty() ? ::memfd_create("output", MFD_CLOEXEC)
                                      : ::open(standard_output.c_str(), O_WRONLY | O_CLOEXEC)),
      errors_(::memfd_create("errors", MFD_CLOEXEC)) {
  std::vector<char*> arguments;
  for (const auto& word : argv) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output_, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  const int failure = ::posix_spawn(&pid_, arguments.front(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::system_error(failure, std::generic_category(), "start " + argv.front());
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(output_);
  ::close(errors_);
}

Outcome Program::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(output_), contents(errors_)};
}

}  // namespace paretopipe::support
