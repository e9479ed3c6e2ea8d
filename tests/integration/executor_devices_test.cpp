// Stages that another program starts, as ssh would: their control link is that program's stdin and stdout, and a guard
// stands between. The launcher here is env(1), so that "another machine" is this one.
#include <csignal>
#include <thread>

#include <elf.h>
#include <fmt/format.h>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace std::chrono_literals;

namespace {

const std::string kBecomeGuard = "exec " + kFakeStage.string() + " \"$@\"";

/// What a person reads at the first question that a sweep asks.
std::string complaint_of(const experiment::Device& device, int timeout_s = 60) {
  run::PipelineExecutor executor(options_on({device}, timeout_s));
  return support::message_of<Error>([&] { executor.describe(on({"local", "box"}, trial_at({1}))); });
}

}  // namespace

TEST_CASE("stages behind launchers compute the same as stages that the driver starts") {
  run::PipelineExecutor executor(options_on({device_over("box"), device_over("pi")}));
  for (const auto& names : std::vector<std::vector<std::string>>{
           {"local", "box"}, {"box", "local"}, {"box", "pi"}, {"local", "box", "local"}, {"box", "pi", "local"}}) {
    CAPTURE(fmt::format("{}", fmt::join(names, " ")));
    const auto record = executor.run(on(names, names.size() == 2 ? trial_at({1}) : trial_at({1, 2})));
    require_ok(record);
    CHECK(record.fidelity->max_abs_difference == 0);
    CHECK(record.trial.on == names);
    check_survives_writing(record);
  }
  CHECK(executor.run(on({"local", "box", "pi"}, dealt_to(3))).status == record::Status::ok);
}

TEST_CASE("what login scripts and libraries print is no part of the control link") {
  const Script noisy("echo 'Welcome to box'; printf 'no line end'; echo to stderr >&2; " + kBecomeGuard);
  run::PipelineExecutor executor(options_on({device_over("box", {"env"}, noisy.path())}));
  CHECK(executor.run(on({"local", "box"}, trial_at({1}))).status == record::Status::ok);
}

TEST_CASE("a stage's environment reaches it through the launcher") {
  const FaultOnce fault("kill@1-3@5");  // which the driver itself hands on only to stages of this machine
  run::PipelineExecutor executor(options_on({device_over("box", {"env", "-u", "FAKE_STAGE_FAULT"})}));
  CHECK(executor.run(on({"local", "box"}, trial_at({1}))).status == record::Status::ok);
}

TEST_CASE("a device that cannot start a stage is named, with its own words and what to do") {
  const auto complaint = [](std::vector<std::string> launcher, const std::filesystem::path& program) {
    return complaint_of(device_over("box", std::move(launcher), program));
  };
  check_contains(complaint({"env"}, "/no/such/program"),
                 {"stage 1 on box cannot be started: env ended before the stage program had answered",
                  "exited with status 127", "paretopipe devices deploy", "/no/such/program"});
  check_contains(complaint({"no-such-launcher"}, "x"), {"the program no-such-launcher is not installed"});
  const Script refusing("echo 'account expired'; exit 1");
  check_contains(complaint({"env"}, refusing.path()), {"account expired", "exited with status 1"});
  const Script older(
      "echo; echo PARETOPIPE-STAGE-CONTROL-LINK; read -r x; echo "
      "'{\"release\": \"0.0.1\", \"architecture\": \"x\", \"ssh_connection\": \"\"}'; sleep 60");
  check_contains(complaint({"env"}, older.path()), {"is of release 0.0.1, and this driver of "});
  CHECK(support::own_children().empty());
}

TEST_CASE(
    "a device whose stage program is of another architecture is refused in a sentence, without the program's bytes") {
  const support::TemporaryFolder folder;
  support::write_program_for(EM_M32, folder.path() / "stage");
  const auto sentence = "stage 1 on box cannot be started: its stage program is built for another architecture";
  for (const auto& launcher : std::vector<std::vector<std::string>>{
           {"env"}, {"sh", "-c", "exec \"$0\" guard"}, {"bash", "-c", "exec \"$0\" guard"}}) {
    const auto refused = complaint_of(device_over("box", launcher, folder.path() / "stage"));
    CAPTURE(launcher.front(), refused);
    CHECK(refused.starts_with(sentence));
    CHECK_FALSE(contains(refused, "ELF"));
  }
  CHECK(support::own_children().empty());
}

TEST_CASE("a device that says nothing is given up at the deadline") {
  CHECK(contains(complaint_of(device_over("box", {"sh", "-c", "sleep 60"}, ""), 1), "did not answer in time"));
  CHECK(support::own_children().empty());
}

TEST_CASE("a stage that dies on its device fails the trial by name, with how it ended there, and the next one works") {
  const FaultOnce fault("kill@1-3@5");
  run::PipelineExecutor executor(options_on({device_over("box")}));
  const auto trial = on({"local", "box"}, trial_at({1}));
  const auto failure = failure_of(executor.run(trial));
  CHECK(failure.stage == 1);
  check_contains(failure.reason, {"stage 1 on box", "the stage process was killed by signal 9"});
  CHECK(executor.run(trial).status == record::Status::ok);
}

TEST_CASE("when a launcher dies, its stage is gone and the trial fails by name") {
  const FaultOnce fault("hang@1-3@5");
  run::PipelineExecutor executor(
      options_on({device_over("box", {"sh", "-c", "exec 3<&0; \"$@\" <&3 3<&- & wait", "-"})}));
  std::thread killer([&] {
    if (!support::wait_until_written(fault.marker())) return;
    for (const auto child : support::own_children()) {
      if (support::children_of(child).empty()) continue;  // the stage of this machine
      ::kill(child, SIGKILL);
    }
  });
  const auto record = executor.run(on({"local", "box"}, trial_at({1})));
  killer.join();
  CHECK(failure_of(record).stage == 1);
  CHECK(support::all_ended(support::watch({static_cast<pid_t>(std::stol(support::read_file(fault.marker())))})));
}

TEST_CASE("a stage on a device that was stopped while it was sent to is ended with its driver") {
  std::vector<support::ProcessWatch> stages;
  {
    run::StageClient stage(0, {.program = kFakeStage, .launcher = {"env", kFakeStage.string(), "guard"}});
    stage.meet(Clock::now() + 30s, -1);
    const auto behind = support::children_of(support::own_children().at(0));
    REQUIRE(behind.size() == 1);
    stages = support::watch(behind);
    ::kill(behind[0], SIGSTOP);
    CHECK_THROWS_AS(send_much(stage, {Clock::now() + 300ms}), run::StageError);
  }
  CHECK(support::all_ended(stages));
}

TEST_CASE("a stage on a device ends with the driver's pipeline") {
  const support::TemporaryFolder folder;
  const auto pid_file = folder.path() / "pid";
  const Script telling("echo $$ > " + pid_file.string() + "; " + kBecomeGuard);
  std::vector<support::ProcessWatch> processes;
  {
    run::PipelineExecutor executor(options_on({device_over("box", {"env"}, telling.path())}));
    REQUIRE(executor.run(on({"local", "box"}, trial_at({1}))).status == record::Status::ok);
    const auto guard = static_cast<pid_t>(std::stol(support::read_file(pid_file)));
    processes = support::watch(support::children_of(guard));
    REQUIRE(processes.size() == 1);
  }
  CHECK(support::all_ended(processes));
  CHECK(support::own_children().empty());
}
