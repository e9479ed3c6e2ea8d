#include <csignal>
#include <memory>
#include <thread>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/processes.hpp>
#include <support/temporary_folder.hpp>

#include "shell_child.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

std::string complaint_about(const std::filesystem::path& program) {
  return support::message_of<EnvironmentError>([&] {
    const launch::ChildProcess child({{program.string()}, {}},
                                     launch::FileDescriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  });
}

}  // namespace

TEST_CASE("a program that cannot be started is an error with its name and the reason, and nothing is left of it") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "data", "no program");
  support::write_file(folder.path() / "garbage", "\x01\x02\x03");
  std::filesystem::permissions(folder.path() / "garbage", std::filesystem::perms::owner_all);
  const auto before = open_descriptors();
  const std::filesystem::path missing = "/no/such/program";
  CHECK(complaint_about(missing) == "start /no/such/program: No such file or directory");
  CHECK(contains(complaint_about(folder.path() / "data"), "data: Permission denied"));
  CHECK(contains(complaint_about(folder.path() / "garbage"), "garbage: Exec format error"));
  CHECK(contains(complaint_about(folder.path()), "Permission denied"));
  CHECK(support::own_children().empty());
  CHECK(open_descriptors() == before);
}

TEST_CASE("no descriptor of this process is inherited but the three streams and the control link") {
  const launch::FileDescriptor stray(
      ::fcntl(STDERR_FILENO, F_DUPFD, 50));  // not close-on-exec, as from a careless shell
  REQUIRE(is_open(stray.get()));
  ShellChild child("n=0; while [ $n -lt 100 ]; do [ -e /proc/$$/fd/$n ] && echo $n; n=$((n+1)); done");
  CHECK(child.output_at_end() == "0\n1\n2\n3");
}

TEST_CASE("a child does not inherit blocked signals") {
  sigset_t terminate;
  sigset_t before;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  REQUIRE(::pthread_sigmask(SIG_BLOCK, &terminate, &before) == 0);
  ShellChild child("kill -TERM $$; exit 1");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK(child.process().end(kPatienceMs) == "was killed by signal 15 (Terminated)");
}

TEST_CASE("a child is beyond the reach of Ctrl-C at the terminal") {
  ShellChild child("echo ready >&3; exec sleep 1000");
  CHECK(child.hear() == "ready");
  CHECK(::getpgid(child.process().pid()) == child.process().pid());
  CHECK(::getpgid(0) != child.process().pid());
}

TEST_CASE("the kernel kills a child whose parent thread is gone") {
  std::unique_ptr<ShellChild> child;
  std::thread([&child] {
    child = std::make_unique<ShellChild>("echo ready >&3; exec sleep 1000");
    child->hear();
  }).join();
  CHECK(child->process().end(kPatienceMs) == "was killed by signal 9 (Killed)");
}

TEST_CASE("a stopped child is killed like a running one") {
  ShellChild child("echo ready >&3; kill -STOP $$; exit 0");
  CHECK(child.hear() == "ready");
  CHECK(child.process().end(1) == "was killed by signal 9 (Killed)");
}
