#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <csignal>
#include <memory>
#include <thread>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/processes.hpp>
#include <support/scoped_variable.hpp>
#include <support/temporary_folder.hpp>

#include "shell_child.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using launch::find_stage_program;
using support::contains;

TEST_CASE("what a child prints is kept, on both streams in order, without the last line's end") {
  ShellChild child("echo one; echo two >&2; echo three; echo");
  CHECK(child.output_at_end() == "one\ntwo\nthree");
  CHECK(ShellChild("exit 0").output_at_end().empty());
}

TEST_CASE("of a talkative child the last words are kept") {
  ShellChild child("i=0; while [ $i -lt 2000 ]; do echo \"line $i\"; i=$((i+1)); done; echo the end");
  const auto output = child.output_at_end();
  CHECK(output.size() <= 2000);
  CHECK(output.ends_with("line 1999\nthe end"));
}

TEST_CASE("empty lines, a guard's signs of life, are no words") {
  const std::string hours = "i=0; while [ $i -lt 3000 ]; do echo; i=$((i+1)); done; ";
  CHECK(ShellChild("echo welcome; " + hours + "echo killed >&2").output_at_end() == "welcome\nkilled");
  CHECK(ShellChild(hours + "echo killed >&2").output_at_end() == "killed");
  CHECK(ShellChild(hours).output_at_end().empty());
}

TEST_CASE("a child says how it ended, again and again") {
  const auto [script, how] = GENERATE(table<std::string, std::string>({
      {"exit 0", "exited with status 0"},
      {"exit 3", "exited with status 3"},
      {"kill -KILL $$", "was killed by signal 9 (Killed)"},
      {"kill -SEGV $$", "was killed by signal 11 (Segmentation fault)"},
  }));
  ShellChild child(script);
  for (int i = 0; i < 2; ++i) {
    CHECK(child.process().end(kPatienceMs) == how);
    CHECK(child.process().how_it_ended() == how);
  }
}

TEST_CASE("a running child has not ended, and is not waited for") {
  ShellChild child("read line <&3; exit 7");
  CHECK_FALSE(child.process().how_it_ended().has_value());
  child.say("go on\n");
  CHECK(child.process().end(kPatienceMs) == "exited with status 7");
}

TEST_CASE("a child that does not end in time is killed, and so is what it started") {
  ShellChild child("sleep 1000 & echo $! >&3; wait");
  const support::ProcessWatch grandchild(std::stoi(child.hear()));
  CHECK(child.process().end(1) == "was killed by signal 9 (Killed)");
  CHECK(grandchild.ended());
}

TEST_CASE("what a child that ended by itself had started does not outlive it") {
  ShellChild child("sleep 1000 & echo $! >&3; read line <&3");
  const support::ProcessWatch grandchild(std::stoi(child.hear()));
  child.say("end\n");
  CHECK(child.process().end(kPatienceMs) == "exited with status 0");
  CHECK(grandchild.ended());
}

TEST_CASE("the end of life kills and reaps, and leaves neither zombie nor descriptor") {
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    ShellChild running("echo ready >&3; exec sleep 1000");
    ShellChild ended("exit 0");
    CHECK(running.hear() == "ready");
    CHECK(ended.hear().empty());
    CHECK(support::own_children().size() == 2);
  }
  CHECK(support::own_children().empty());
  CHECK(open_descriptors() == before);
}

TEST_CASE("a child that was moved has one owner") {
  ShellChild child("read line <&3; exit 5");
  {
    launch::ChildProcess owner(std::move(child.process()));
    CHECK_FALSE(owner.how_it_ended().has_value());
    child.say("end\n");
    CHECK(owner.end(kPatienceMs) == "exited with status 5");
  }
  CHECK(support::own_children().empty());
}

TEST_CASE("the control link is descriptor 3, in both directions, and ends with either side") {
  ShellChild child("read line <&3; echo \"heard $line\" >&3; cat <&3; echo the end");
  child.say("hello\n");
  CHECK(child.hear() == "heard hello");
  child.say("more\n");
  child.hang_up();
  CHECK(child.output_at_end() == "more\nthe end");

  ShellChild silent("exit 0");
  CHECK(silent.hear().empty());  // the end of the stream: this process holds no copy of the child's end
}

TEST_CASE("settings go over what the environment has, and the rest is inherited") {
  const support::ScopedVariable inherited("PARETOPIPE_TEST_A", "inherited");
  const support::ScopedVariable replaced("PARETOPIPE_TEST_B", "not this");
  const support::ScopedVariable similar("PARETOPIPE_TEST_BB", "kept");
  ShellChild child(
      "echo \"$PARETOPIPE_TEST_A,$PARETOPIPE_TEST_B,$PARETOPIPE_TEST_BB,$PARETOPIPE_TEST_C\"; "
      "env | grep -c '^PARETOPIPE_TEST_B='",
      {{"PARETOPIPE_TEST_B", "a = b"}, {"PARETOPIPE_TEST_C", ""}});
  CHECK(child.output_at_end() == "inherited,a = b,kept,\n1");
  CHECK(std::getenv("PARETOPIPE_TEST_B") == std::string("not this"));
}

TEST_CASE("a child reads nothing from this process's standard input") {
  ShellChild child("cat; echo end");
  CHECK(child.output_at_end() == "end");
}

namespace {

std::string complaint_about(const std::filesystem::path& program) {
  return support::message_of<EnvironmentError>([&] {
    const launch::ChildProcess child({{program.string()}, {}}, FileDescriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)));
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
  const FileDescriptor stray(::fcntl(STDERR_FILENO, F_DUPFD, 50));  // not close-on-exec, as from a careless shell
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

TEST_CASE("the kernel kills a child whose parent thread is gone, and a stopped one is killed like a running one") {
  std::unique_ptr<ShellChild> child;
  std::thread([&child] {
    child = std::make_unique<ShellChild>("echo ready >&3; exec sleep 1000");
    child->hear();
  }).join();
  CHECK(child->process().end(kPatienceMs) == "was killed by signal 9 (Killed)");
  ShellChild stopped("echo ready >&3; kill -STOP $$; exit 0");
  CHECK(stopped.hear() == "ready");
  CHECK(stopped.process().end(1) == "was killed by signal 9 (Killed)");
}

namespace {

constexpr const char* kVariable = "PARETOPIPE_STAGE";

std::string complaint() {
  return support::message_of<EnvironmentError>([] { find_stage_program(); });
}

}  // namespace

TEST_CASE("the environment names the stage program") {
  const support::ScopedVariable chosen(kVariable, "/bin/sh");
  CHECK(find_stage_program() == "/bin/sh");
}

TEST_CASE("a choice that cannot be executed is an error that names it and how to choose another") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "data", "no program");
  for (const auto& choice : {std::filesystem::path("/no/such/stage"), folder.path() / "data", folder.path()}) {
    const support::ScopedVariable chosen(kVariable, choice.string());
    CHECK(contains(complaint(), "not at " + choice.string() + ";"));
    CHECK(contains(complaint(), kVariable));
  }
}

TEST_CASE("without a choice the stage program is the one next to this program") {
  const support::ScopedVariable restored(kVariable, "");
  ::unsetenv(kVariable);
  const auto neighbour = std::filesystem::path(PARETOPIPE_BIN_DIR) / "paretopipe-stage";
  if (std::filesystem::exists(neighbour)) {
    CHECK(std::filesystem::equivalent(find_stage_program(), neighbour));
  } else {
    CHECK(contains(complaint(), "paretopipe-stage; build it"));
  }
}
