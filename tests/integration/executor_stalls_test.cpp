// Stages that hang or slow down in the middle of a trial are named, long before the trial's timeout or else by it, and
// so is one that somebody kills; a person's interruption ends all at once.
#include <paretopipe/core/file_descriptor.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

#include <support/files.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace std::chrono_literals;

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

constexpr int kTimeoutSeconds = 600;  // which no test may come near

/// Impatient enough for a test, and patient enough for the innocent on a machine that is busy with other tests.
run::ExecutorOptions impatient() {
  auto options = options_with(kFakeStage, kTimeoutSeconds);
  options.watching.limits = {.first_look = 100ms, .every = 100ms, .stopped = 1s, .standstill = 3s, .unsure = 60s};
  return options;
}

/// The trial fails well before its timeout, for this stage alone, and the next one gets new processes.
void check_named(const std::string& fault_text, int stage, const std::string& words, const experiment::Trial& trial) {
  CAPTURE(fault_text);
  const FaultOnce fault(fault_text);
  run::PipelineExecutor executor(impatient());
  const auto begin = Clock::now();
  const auto failure = failure_of(executor.run(trial));
  CAPTURE(failure.reason);
  CHECK(Clock::now() - begin < 120s);
  CHECK(failure.phase == "run");
  CHECK(failure.stage == stage);
  CHECK(contains(failure.reason, "stage " + std::to_string(stage) + " hangs: " + words));
  CHECK(support::own_children().empty());
  CHECK(executor.run(trial).status == record::Status::ok);
}

/// How a trial fails at its timeout through this fault, which must be of the second of two such trials on the same
/// stages. On a busy machine that timeout may also end their start, or the trial before the fault: both say nothing
/// about the fault, and new stages try again.
record::Failure failure_at_timeout(const FaultOnce& fault, const experiment::Trial& trial) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const int timeout_s = std::min(1 << attempt, 4);  // before the first look at stages that hang
    run::PipelineExecutor executor(options_with(kFakeStage, timeout_s));
    if (executor.run(trial).status != record::Status::ok) continue;
    const auto begin = std::filesystem::file_time_type::clock::now();
    const auto failure = failure_of(executor.run(trial));
    CHECK(support::own_children().empty());
    const bool happened = std::filesystem::exists(fault.marker());
    if (happened && std::filesystem::last_write_time(fault.marker()) < begin + timeout_s * 500ms) return failure;
    std::filesystem::remove(fault.marker());
  }
  FAIL("the fault never happened well before the timeout");
  return {};
}

}  // namespace

TEST_CASE("the stage that was stopped, or that computes for ever, is named, wherever it is and whomever it blocks") {
  const std::string stopped = "its process is stopped (SIGSTOP)",
                    computing = "it has been computing the same batch for";
  check_named("stop@0-1@5", 0, stopped, trial_at({1, 2}));
  check_named("stop@1-2@9", 1, stopped, trial_at({1, 2}));
  check_named("stop@2-3@12", 2, stopped, trial_at({1, 2}));
  check_named("hang@0-1@5", 0, computing, trial_at({1, 2}));
  check_named("hang@1-2@9", 1, computing, trial_at({1, 2}));
  check_named("hang@2-3@12", 2, computing, trial_at({1, 2}));
  auto large = trial_at({1, 2});
  large.model = "synthetic:0ms/12MB,0ms/4kB,0ms";  // more than sockets hold, several times over: the sender is blocked
  check_named("stop@1-2@5", 1, stopped, large);
  check_named("hang@1-2@7", 1, "it has been computing", trial_in_micro_batches({1, 2}, 8, 2));  // within a batch
}

TEST_CASE("a device that batches are dealt out to is named when it hangs") {
  const FaultOnce fault("hang@0-3@18");
  run::PipelineExecutor executor(impatient());
  // The source computes all sixteen batches of this trial, and so is the first to get so far in the next one.
  REQUIRE(executor.run(trial_at({kBlocks, kBlocks})).status == record::Status::ok);
  const auto failure = failure_of(executor.run(dealt_to(3)));
  CHECK(failure.stage == 0);
  CHECK(contains(failure.reason, "stage 0 hangs: it has been computing"));
}

TEST_CASE(
    "what a stopped stage does not read, or does not send, is waited for no longer than the limits say, and a person "
    "can stop it") {
  const auto within = [](const auto& transfer, const run::WaitLimits& limits) {
    run::StageClient stage(0, {kFakeStage});
    ::kill(support::own_children().at(0), SIGSTOP);
    transfer(stage, limits);
  };
  const auto receive = [](run::StageClient& stage, const run::WaitLimits& limits) {
    std::array<std::byte, 4> bytes{};
    stage.receive_within(limits, [&] {
      stage.receive_tensor(0, 0, {wire::DType::float32, wire::MemoryFormat::contiguous, {1}}, bytes);
    });
  };
  check_throws<run::StageError>([&] { within(send_much, {Clock::now() + 200ms}); },
                                {"stage 0 did not take in time what it was sent"});
  check_throws<run::StageError>([&] { within(receive, {Clock::now() + 200ms}); },
                                {"stage 0 did not send in time what it announced"});
  const FileDescriptor interrupt(::eventfd(1, EFD_CLOEXEC));
  CHECK_THROWS_AS(within(send_much, {Clock::now() + 60s, interrupt.get()}), Interrupted);
  CHECK_THROWS_AS(within(receive, {Clock::now() + 60s, interrupt.get()}), Interrupted);
  CHECK(support::own_children().empty());
}

TEST_CASE("a person can stop the driver while a stopped stage does not read the request that it is sent") {
  const FileDescriptor interrupt(::eventfd(0, EFD_CLOEXEC));
  const auto trial = trial_at({});
  const auto network = shaping::make_network(experiment::Shaping::none, 1, {});
  const run::EmulatedDevices devices(trial);
  run::PipelineOptions options;
  options.command.program = kFakeStage;
  options.cpus = trial.cpus;
  options.compute.resize(1);
  options.interrupt_descriptor = interrupt.get();
  run::Pipeline pipeline(options, *network, devices);
  ::kill(support::own_children().at(0), SIGSTOP);
  ::eventfd_write(interrupt.get(), 1);
  stage::ModelRequest larger_than_sockets;
  larger_than_sockets.model.assign(std::size_t{4} << 20, 'x');
  CHECK_THROWS_AS(pipeline.count_labels(larger_than_sockets), Interrupted);
}

TEST_CASE("the process that computes unsplit models is named when it is stopped") {
  const FaultOnce fault("stop@0-3@2");
  run::PipelineExecutor executor(impatient());
  const auto failure = failure_of(executor.run(trial_at({1, 2})));
  CAPTURE(failure.reason);
  CHECK(failure.phase == "load");
  CHECK_FALSE(failure.stage.has_value());
  CHECK(contains(failure.reason, "the process that computes unsplit models hangs: its process is stopped (SIGSTOP)"));
}

TEST_CASE("a stage that computes on and on is told of, and waited for") {
  const FaultOnce fault("toil@1-2@9");
  auto options = impatient();
  options.watching.limits.standstill = 500ms;
  options.watching.limits.times_longest = 1;
  std::vector<std::string> notices;
  options.watching.notice = [&](const std::string& sentence) { notices.push_back(sentence); };
  run::PipelineExecutor executor(options);
  require_ok(executor.run(trial_at({1, 2})));
  REQUIRE(notices.size() == 1);
  CHECK(contains(notices.front(), "stage 1 is slow: it has been computing the same batch"));
}

TEST_CASE("being asked all the time where they are changes nothing for stages that are well") {
  auto options = impatient();
  options.watching.limits.first_look = options.watching.limits.every = 1ms;
  run::PipelineExecutor executor(options);
  for (int repetition = 0; repetition < 3; ++repetition) {
    auto trial = trial_at({1, 2}, repetition);
    trial.batches = 200;
    CHECK(executor.run(trial).status == record::Status::ok);
    CHECK(executor.last_result(trial).bytes.size() == 40);
  }
}

// That the others are not is a test of `find_slow_downs`: on a busy machine another stage may really have become
// slower.
TEST_CASE("a stage that becomes slower within a trial is named in its record") {
  const FaultOnce fault("tire@1-2@70");  // of 2 phases of 42 batches
  run::PipelineExecutor executor(impatient());
  auto trial = trial_at({1, 2});
  trial.batches = 40;
  const auto record = executor.run(trial);
  REQUIRE(record.status == record::Status::ok);
  const auto slow =
      std::ranges::find_if(record.slow_downs, [](const auto& one) { return one.offline && one.stage == 1; });
  REQUIRE(slow != record.slow_downs.end());
  CHECK(slow->batch > 0);
  CHECK(slow->after_ns > slow->before_ns);
  check_survives_writing(record);
}

TEST_CASE("a stage that falls silent is given up at the timeout by its name, and no process is left") {
  const std::string computing = "was not ready in time: it was computing";
  const std::string stopped = "gave no answer in time: its process is stopped (SIGSTOP)";
  const auto [fault_text, split, stage, words] =
      GENERATE_COPY(table<std::string, int, int, std::string>({{"hang@0-1@21", 1, 0, computing},
                                                               {"hang@1-3@21", 1, 1, computing},
                                                               {"stop@0-1@21", 1, 0, stopped},
                                                               {"stop@1-3@21", 1, 1, stopped},
                                                               {"hang@0-3@28", 3, 0, computing}}));  // alone
  CAPTURE(fault_text);
  const FaultOnce fault(fault_text);
  const auto failure = failure_at_timeout(fault, trial_at({split}));
  CHECK(failure.phase == "run");
  check_contains(failure.reason, {"stage " + std::to_string(stage) + " " + words, "raise --trial-timeout"});
  CHECK(failure.stage == stage);
  CHECK(run::PipelineExecutor(options_with()).run(trial_at({1})).status == record::Status::ok);
}

TEST_CASE("a stage that is killed from outside in the middle of a trial is named") {
  const auto [fault_text, stage] = GENERATE(table<std::string, int>({{"hang@0-1@5", 0}, {"hang@1-3@5", 1}}));
  const FaultOnce fault(fault_text);
  const Intruder killer(fault, [](pid_t stage_process) { ::kill(stage_process, SIGKILL); });
  run::PipelineExecutor executor(options_with());
  const auto failure = failure_of(executor.run(trial_at({1})));
  CAPTURE(failure.reason);
  CHECK(failure.stage == stage);
  CHECK(contains(failure.reason, "was killed by signal 9"));
  CHECK(support::own_children().empty());
}

TEST_CASE("a person's interruption before a trial, or in the middle of it, ends it at once, and the stages too") {
  const bool before = GENERATE(true, false);
  const FileDescriptor interrupt(::eventfd(before ? 1 : 0, EFD_CLOEXEC));
  auto options = options_with();
  options.interrupt_descriptor = interrupt.get();
  {
    const FaultOnce fault("hang@1-3@5");
    std::optional<Intruder> person;
    if (!before) person.emplace(fault, [&](pid_t) { ::eventfd_write(interrupt.get(), 1); });
    run::PipelineExecutor executor(options);
    CHECK_THROWS_AS(executor.run(trial_at({1})), Interrupted);
  }
  CHECK(support::own_children().empty());
}

TEST_CASE("a person's interruption while a very slow network is probed ends that at once", "[needs:tbf]") {
  const auto kind = GENERATE(experiment::Shaping::netem, experiment::Shaping::emulated);
  CAPTURE(to_string(kind));
  need_kind(kind);
  const auto before = support::machine_state();
  const FileDescriptor interrupt(::eventfd(0, EFD_CLOEXEC));
  auto trial = trial_at({1});
  trial.shaping = kind;
  trial.network.name = "slow";
  trial.network.forward.rate_bit_per_s = trial.network.backward.rate_bit_per_s = 10'000;  // a probe takes minutes
  auto options = options_with();
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
