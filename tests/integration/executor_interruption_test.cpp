#include <paretopipe/launch/file_descriptor.hpp>

#include <csignal>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>

#include "executor_fixture.hpp"
#include "shaping/machine_state.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace std::chrono_literals;
using support::contains;

namespace {

/// Does something from outside as soon as a stage hangs in the middle of a trial.
class Intruder {
 public:
  template <class Action>
  Intruder(const FaultOnce& fault, Action action)
      : thread_([marker = fault.marker(), action] {
          if (support::wait_until_written(marker)) action(static_cast<pid_t>(std::stol(support::read_file(marker))));
        }) {}
  ~Intruder() { thread_.join(); }
  Intruder(const Intruder&) = delete;
  Intruder& operator=(const Intruder&) = delete;

 private:
  std::thread thread_;
};

record::Failure failure_of(const record::TrialRecord& record) {
  REQUIRE(record.status == record::Status::failed);
  return *record.failure;
}

}  // namespace

TEST_CASE("a stage that falls silent is given up at the timeout by its name, and no process is left") {
  const auto [fault_text, stage, words] = GENERATE(table<std::string, int, std::string>(
      {{"hang@0-1@5", 0, "was not ready in time: it was computing"},
       {"hang@1-3@5", 1, "was not ready in time: it was computing"},
       {"stop@0-1@5", 0, "gave no answer in time: its process is stopped (SIGSTOP)"},
       {"stop@1-3@5", 1, "gave no answer in time: its process is stopped (SIGSTOP)"}}));
  CAPTURE(fault_text);
  const FaultOnce fault(fault_text);
  run::PipelineExecutor executor(options_with(kFakeStage, 1));
  const auto failure = failure_of(executor.run(trial_at({1})));
  CAPTURE(failure.reason);
  CHECK(failure.phase == "run");
  CHECK(contains(failure.reason, "stage " + std::to_string(stage) + " " + words));
  CHECK(contains(failure.reason, "raise --trial-timeout"));
  CHECK(failure.stage == stage);
  CHECK(support::own_children().empty());
  CHECK(run::PipelineExecutor(options_with(kFakeStage)).run(trial_at({1})).status == record::Status::ok);
}

TEST_CASE("a single silent stage is named") {
  const FaultOnce fault("hang@0-3@12");
  run::PipelineExecutor executor(options_with(kFakeStage, 1));
  const auto failure = failure_of(executor.run(trial_at({3})));
  CAPTURE(failure.reason);
  CHECK(contains(failure.reason, "stage 0 was not ready in time"));
  CHECK(failure.stage == 0);
}

TEST_CASE("a stage that is killed from outside in the middle of a trial is named") {
  const auto [fault_text, stage] = GENERATE(table<std::string, int>({{"hang@0-1@5", 0}, {"hang@1-3@5", 1}}));
  const FaultOnce fault(fault_text);
  const Intruder killer(fault, [](pid_t stage_process) { ::kill(stage_process, SIGKILL); });
  run::PipelineExecutor executor(options_with(kFakeStage));
  const auto failure = failure_of(executor.run(trial_at({1})));
  CAPTURE(failure.reason);
  CHECK(failure.stage == stage);
  CHECK(contains(failure.reason, "was killed by signal 9"));
  CHECK(support::own_children().empty());
}

TEST_CASE("a person's interruption in the middle of a trial ends it at once, and the stages with the executor") {
  const FaultOnce fault("hang@1-3@5");
  const int interrupt = ::eventfd(0, EFD_CLOEXEC);
  auto options = options_with(kFakeStage);
  options.interrupt_descriptor = interrupt;
  {
    const Intruder person(fault, [interrupt](pid_t) { ::eventfd_write(interrupt, 1); });
    run::PipelineExecutor executor(options);
    CHECK_THROWS_AS(executor.run(trial_at({1})), Interrupted);
  }
  CHECK(support::own_children().empty());
  ::close(interrupt);
}

TEST_CASE("a person's interruption while a very slow network is probed ends that at once", "[needs:tbf]") {
  const auto kind = GENERATE(experiment::Shaping::netem, experiment::Shaping::emulated);
  CAPTURE(to_string(kind));
  if (kind == experiment::Shaping::netem) support::need(support::capabilities().tbf);
  const auto before = support::machine_state();
  const launch::FileDescriptor interrupt(::eventfd(0, EFD_CLOEXEC));
  auto trial = trial_at({1});
  trial.shaping = kind;
  trial.network.name = "slow";
  trial.network.forward.rate_bit_per_s = trial.network.backward.rate_bit_per_s = 10'000;  // a probe takes minutes
  auto options = options_with(kFakeStage);
  options.interrupt_descriptor = interrupt.get();
  Clock::time_point interrupted;
  {
    run::PipelineExecutor executor(options);
    auto unshaped = trial;
    unshaped.network = {};
    executor.run(unshaped);  // all is loaded, so that little else than the probe is left to interrupt
    const auto sockets = support::sockets_of(::getpid());
    bool probing = false;
    std::thread person([&] {
      probing = support::wait_for_more_sockets(::getpid(), sockets, 2);  // both ends of the probe's connection
      interrupted = Clock::now();
      ::eventfd_write(interrupt.get(), 1);
    });
    CHECK_THROWS_AS(executor.run(trial), Interrupted);
    person.join();
    CHECK(probing);
  }
  CHECK(Clock::now() - interrupted < 30s);
  CHECK(support::own_children().empty());
  CHECK(support::machine_state() == before);
}

TEST_CASE("an interruption before the first trial starts nothing that is left") {
  const int interrupt = ::eventfd(1, EFD_CLOEXEC);
  auto options = options_with(kFakeStage);
  options.interrupt_descriptor = interrupt;
  {
    run::PipelineExecutor executor(options);
    CHECK_THROWS_AS(executor.run(trial_at({1})), Interrupted);
  }
  CHECK(support::own_children().empty());
  ::close(interrupt);
}
