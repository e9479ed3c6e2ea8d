// The driver's side of meeting a guard, with a shell in place of a launcher that may print, stay silent, or end.
#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/guard.hpp>

#include <chrono>

#include <sys/eventfd.h>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "shell_child.hpp"

using namespace paretopipe;
using namespace paretopipe::launch;
using namespace std::chrono_literals;
using Catch::Matchers::StartsWith;

namespace {

/// A launcher that runs `script`, and the driver's end of its stdin and stdout.
class Launcher {
 public:
  explicit Launcher(const std::string& script) : Launcher(script, testing::socket_pair()) {}

  GuardAnswer meet(Nanoseconds patience = 30s, int interrupt = -1, const GuardOrder& order = {}) {
    return meet_guard(control_.get(), order, Clock::now() + patience, interrupt);
  }
  std::string refusal(Nanoseconds patience = 30s) {
    return support::message_of<EnvironmentError>([&] { meet(patience); });
  }
  std::string rest() {
    std::string text;
    for (char byte = 0; ::read(control_.get(), &byte, 1) == 1;) text += byte;
    return text;
  }

 private:
  Launcher(const std::string& script, std::pair<FileDescriptor, FileDescriptor> ends)
      : control_(std::move(ends.first)),
        process_({.argv = {"/bin/sh", "-c", script}, .control_is_stdio = true}, std::move(ends.second)) {}

  FileDescriptor control_;
  ChildProcess process_;
};

const std::string kMarker = std::string("echo; echo ") + kGuardMarker + "; read -r order; ";
const std::string kAnswer = R"(echo '{"release": "1.2", "architecture": "aarch64", "ssh_connection": "a 1 b 2"}'; )";

}  // namespace

TEST_CASE("whatever a login prints comes before the marker, and nothing after the answer is read", "[guard]") {
  Launcher launcher("echo Welcome; printf 'no end of line '; head -c 300000 /dev/zero | tr '\\0' x; " + kMarker +
                    kAnswer + "printf frames");
  const auto answer = launcher.meet();
  CHECK(answer.release == "1.2");
  CHECK(answer.architecture == "aarch64");
  CHECK(answer.ssh_connection == "a 1 b 2");
  CHECK(launcher.rest() == "frames");
}

TEST_CASE("a terminal's line ends do not matter", "[guard]") {
  Launcher launcher(std::string("printf 'hello\\r\\n") + kGuardMarker + "\\r\\n'; read -r order; " + kAnswer);
  CHECK(launcher.meet().release == "1.2");
}

TEST_CASE("the guard gets the environment of the stage", "[guard]") {
  Launcher launcher(kMarker + kAnswer + "printf '%s' \"$order\"");
  launcher.meet(30s, -1, {{{"A", "it's \"b\"\n"}}});
  CHECK(launcher.rest() == R"({"environment":[["A","it's \"b\"\n"]]})");
}

TEST_CASE("a launcher that ends is refused with the last line that it printed", "[guard]") {
  CHECK(Launcher("exit 3").refusal() == "ended before the stage program had answered");
  CHECK(Launcher("echo 'no such pod'; echo; exit 3").refusal() ==
        "ended before the stage program had answered; the last line that it printed: no such pod");
  CHECK_THAT(Launcher(kMarker + "exit 0").refusal(), StartsWith("ended before the stage program had answered"));
}

TEST_CASE("an answer that is none of a stage program is refused", "[guard]") {
  CHECK_THAT(Launcher(kMarker + "echo hello").refusal(),
             StartsWith("answered in another way than a stage program does ("));
  CHECK_THAT(Launcher(kMarker + "echo '{}'").refusal(),
             StartsWith("answered in another way than a stage program does ("));
}

TEST_CASE("a launcher that says nothing is waited for until the deadline, and one that a person gives up no longer",
          "[guard]") {
  CHECK(Launcher("sleep 60").refusal(50ms) == "did not answer in time");
  const FileDescriptor interrupt(::eventfd(1, EFD_CLOEXEC));
  CHECK_THROWS_AS(Launcher("sleep 60").meet(30s, interrupt.get()), Interrupted);
}
