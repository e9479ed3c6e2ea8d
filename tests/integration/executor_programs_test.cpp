// Stage programs that are none, or say and do anything but serve, or live in another time.
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/version.hpp>

#include <cmath>

#include <support/files.hpp>
#include <support/program.hpp>
#include <support/scoped_variable.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// What a person reads whose stage program is `program`, at the first question that a sweep asks it.
std::string complaint_about(const std::filesystem::path& program, int timeout_s = 60,
                            const experiment::Trial& trial = trial_at({1})) {
  run::PipelineExecutor executor(options_with(program, timeout_s));
  return support::message_of<Error>([&] { executor.describe(trial); });
}

}  // namespace

TEST_CASE("a program that is no stage is an error that names it or says how it ended, and nothing is left of it") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "data", "not a program");
  // All stages are started at once, so that any of them may be the first to end.
  for (const auto& [program, said] : std::vector<std::pair<std::filesystem::path, std::string>>{
           {"/no/such/stage", "start /no/such/stage: No such file or directory"},
           {folder.path() / "data", "Permission denied"},
           {"/bin/true", " exited with status 0"},
           {"/bin/false", " exited with status 1"},
           {"/bin/cat", "cat: serve"}}) {
    const auto complaint = complaint_about(program);
    CAPTURE(complaint);
    CHECK(contains(complaint, said));
    CHECK(support::own_children().empty());
  }
}

TEST_CASE("a program that gives up, speaks nonsense, never answers or hangs up is told of in its own words") {
  const auto [body, timeout_s, said] = GENERATE(table<std::string, int, std::vector<std::string>>(
      {{"echo 'no OpenBLAS on this machine' >&2; exit 3", 60, {"exited with status 3", "no OpenBLAS on this machine"}},
       {"while :; do echo 'GET / HTTP/1.1'; done >&3", 60, {"spoke another protocol"}},
       {"exec sleep 1000", 1, {"no answer in time"}},
       {"exec 3>&-; exec sleep 1000", 60, {"was killed by signal 9"}}}));
  const auto message = complaint_about(Script(body).path(), timeout_s);
  CAPTURE(message);
  for (const auto& part : said) CHECK(contains(message, part));
  CHECK(support::own_children().empty());
}

TEST_CASE("a stage's memory lies in huge pages, unless the malloc is not to be tuned or the user tunes it") {
  const Script script("echo \"tunables: $GLIBC_TUNABLES.\" >&2; exit 3");
  CHECK(contains(complaint_about(script.path()), "tunables: glibc.malloc.hugetlb=1."));
  auto plain = trial_at({1});
  plain.tuning.tune_malloc = false;
  CHECK(contains(complaint_about(script.path(), 60, plain), "tunables: ."));
  const support::ScopedVariable tuned("GLIBC_TUNABLES", "glibc.malloc.tcache_count=3");
  CHECK(contains(complaint_about(script.path()), "tunables: glibc.malloc.tcache_count=3."));
}

TEST_CASE("a host whose stage program is of another build is said once, and is in its records") {
  auto options = options_on({device_over("pi", {"env"}, kFakeStage.parent_path() / "fake-stage-of-another-build")});
  std::vector<std::string> notices;
  options.watching.notice = [&](const std::string& sentence) { notices.push_back(sentence); };
  run::PipelineExecutor executor(options);
  for (const auto& devices : std::vector<std::vector<std::string>>{{"local", "pi"}, {"pi", "local"}, {"pi", "pi"}}) {
    CAPTURE(devices);
    const auto record = executor.run(on(devices, trial_at({1})));
    require_ok(record);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      CHECK(record.stages[i].git_state == (devices[i] == "pi" ? "abc123-dirty" : ""));
    }
    check_survives_writing(record);
  }
  REQUIRE(notices.size() == 1);
  check_contains(notices.front(), {"device pi runs a stage program of another build (abc123-dirty, this driver is of " +
                                       std::string(git_state()) + ")",
                                   "the devices file names it"});
}

TEST_CASE("stages that a launcher reaches are told of if they say another build, or none as older ones do") {
  auto deployed = device_over("pi");
  deployed.program.clear();
  const std::vector<experiment::Device> devices{experiment::Device{}, deployed, deployed, device_over("named")};
  const auto notices_of = [&](const std::vector<std::string>& builds) {
    std::vector<stage::Configured> stages(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) stages[i].git_state = builds[i];
    return run::other_build_notices(devices, stages);
  };
  const std::string own(git_state());
  CHECK(notices_of({own, own, own, own}).empty());
  CHECK(notices_of({"other", own, own, own}).empty());  // what starts here was chosen here
  const auto notices = notices_of({own, "a\x1b[2J", own, ""});
  REQUIRE(notices.size() == 2);
  check_contains(notices[0], {"device pi ", "`paretopipe devices deploy` copies this one"});
  CHECK_FALSE(contains(notices[0], "\x1b"));
  check_contains(notices[1],
                 {"device named ", "another build (an older one, this driver", "the devices file names it"});
  CHECK(run::other_build_notices({}, std::vector<stage::Configured>(2)).empty());
}

TEST_CASE("a host whose stage speaks another version of the control protocol is named, not this machine's program") {
  run::PipelineExecutor executor(options_on({device_over("pi", {"env", "FAKE_STAGE_FAULT=older"})}));
  const auto said = support::message_of<EnvironmentError>([&] { executor.run(on({"local", "pi"}, trial_at({1}))); });
  CHECK(said.starts_with("stage 1 on pi speaks version 1 of the control protocol, this driver version "));
  CHECK_FALSE(contains(said, kFakeStage.string()));
}

TEST_CASE("a stage program that cannot be started is not a failure record of every trial but the end of the sweep") {
  run::PipelineExecutor executor(options_with("/no/such/stage"));
  CHECK_THROWS_AS(executor.run(trial_at({1})), EnvironmentError);
}

namespace {

/// A stage program whose every process lives in a time of its own, as many seconds ahead as its number says.
class StageInOtherTime {
 public:
  StageInOtherTime() {
    if (support::Program({"/bin/sh", "-c", kUnshare + "1 /bin/true"}, "/").wait().exit_code != 0) {
      support::skip("this machine has no time namespaces for this user");
    }
  }

  std::filesystem::path path() const { return script_.path(); }

  /// How far a stage of the record was ahead of the machine's clock.
  std::int64_t ahead_ns(const record::StageReport& stage) const {
    return std::stoll(support::read_file(folder_.path() / stage.host.time_namespace)) * 1'000'000'000;
  }

 private:
  static inline const std::string kUnshare = "unshare --user --map-root-user --time --monotonic ";

  support::TemporaryFolder folder_;
  Script script_{fmt::format("exec {}$$ /bin/sh -c 'echo $$ >\"{}/$(readlink /proc/self/ns/time)\"; exec {}'", kUnshare,
                             folder_.path().string(), kFakeStage.string())};
};

/// Requires that the truth is within the error that the record states, and returns how far off the record is.
std::int64_t require_aligned(const record::TrialRecord& record, const StageInOtherTime& stage) {
  INFO((record.failure ? record.failure->reason : std::string()));
  // A busy machine wakes an emulated link late. That invalidates the trial, and no bound.
  REQUIRE((record.status == record::Status::ok || record.failure->phase == "network"));
  REQUIRE(record.clocks.size() == 2);
  CHECK(record.clocks[0].same_clock);
  const auto& clock = record.clocks[1];
  CHECK_FALSE(clock.same_clock);
  const auto truth = stage.ahead_ns(record.stages[0]) - stage.ahead_ns(record.stages[1]);
  CAPTURE(truth, clock.offset_before_ns, clock.offset_after_ns, clock.error_bound_ns);
  CHECK(truth != 0);
  CHECK(std::abs(clock.offset_before_ns - truth) <= clock.error_bound_ns);
  CHECK(std::abs(clock.offset_after_ns - truth) <= clock.error_bound_ns);
  CHECK(clock.drift_ppm.value()[0] <= 0);
  CHECK(clock.drift_ppm.value()[1] >= 0);
  return std::abs(clock.offset_before_ns + clock.offset_after_ns - 2 * truth) / 2;
}

}  // namespace

TEST_CASE("times of stages with a clock of their own are brought to stage 0's, with a bound on the error",
          "[needs:time_namespaces]") {
  const StageInOtherTime stage;
  run::PipelineExecutor executor(options_with(stage.path()));
  for (int repetition = 0; repetition < 3; ++repetition) {
    const auto record = executor.run(trial_at({1}, repetition));
    require_aligned(record, stage);
    CHECK(record.clocks[1].error_bound_ns < 50'000'000);
    check_survives_writing(record);
  }
}

TEST_CASE("stages that train on clocks of their own are aligned by activations one way and gradients the other",
          "[needs:time_namespaces]") {
  const StageInOtherTime stage;
  run::PipelineExecutor executor(options_with(stage.path()));
  auto trial = to_train(trial_in_micro_batches({1}, 4, 1));
  for (trial.repetition = 0; trial.repetition < 2; ++trial.repetition) {
    const auto record = executor.run(trial);
    require_aligned(record, stage);
    CHECK(record.training->verified_steps == 2);
    check_survives_writing(record);
    const auto& stages = record.training->stages;
    for (std::size_t i = 0; i < stages[0].forward.send_begin.size(); ++i) {
      REQUIRE(stages[0].forward.send_begin[i] <= stages[1].forward.receive_begin[i]);
      REQUIRE(stages[1].backward.send_begin[i] <= stages[0].backward.receive_begin[i]);
    }
  }
}

TEST_CASE("over a network that is slower one way the bound holds, where half of the round trip would be 10 ms off",
          "[needs:time_namespaces]") {
  const StageInOtherTime stage;
  run::PipelineExecutor executor(options_with(stage.path()));
  auto trial = trial_at({1});
  trial.shaping = experiment::Shaping::emulated;
  trial.network.name = "uneven";
  trial.network.forward.delay = std::chrono::milliseconds(30);
  trial.network.backward.delay = std::chrono::milliseconds(10);
  for (trial.repetition = 0; trial.repetition < 3; ++trial.repetition) {
    const auto record = executor.run(trial);
    const auto off_ns = require_aligned(record, stage);
    CAPTURE(off_ns);
    CHECK(record.clocks[1].error_bound_ns >= 20'000'000);
    CHECK(off_ns > 5'000'000);
    for (const auto& phase : {record.single_stream.value(), record.offline.value()}) {
      for (std::size_t i = 0; i < phase.results.completed.size(); ++i) {
        REQUIRE(phase.stages[0].send_begin[i] <= phase.stages[1].receive_begin[i]);
        REQUIRE(phase.stages[1].send_begin[i] <= phase.results.receive_begin[i]);
      }
    }
  }
}
