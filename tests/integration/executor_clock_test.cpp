// Stages whose steady clock is another one than the driver's: here, through a time namespace.
#include <paretopipe/core/error.hpp>
#include <paretopipe/run/pipeline.hpp>

#include <cmath>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/program.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

constexpr std::int64_t kAheadSeconds = 100'000;

/// The fake stage with a steady clock that is ahead of ours.
std::filesystem::path make_stage_of_another_time(const support::TemporaryFolder& folder) {
  const auto script = folder.path() / "stage.sh";
  support::write_file(script, fmt::format("#!/bin/sh\nexec unshare --user --map-root-user --time --monotonic {} {}\n",
                                          kAheadSeconds, kFakeStage.string()));
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

bool time_namespaces_work(const support::TemporaryFolder& folder) {
  return support::Program({"/usr/bin/unshare", "--user", "--map-root-user", "--time", "--monotonic", "1", "/bin/true"},
                          folder.path())
             .wait()
             .exit_code == 0;
}

}  // namespace

TEST_CASE("times of stages with a clock of their own are brought to the driver's, with a bound on the error",
          "[needs:time_namespaces]") {
  const support::TemporaryFolder folder;
  if (!time_namespaces_work(folder)) {
    support::skip("this machine has no time namespaces for this user");
  }
  run::PipelineExecutor executor(options_with(make_stage_of_another_time(folder)));
  const auto record = executor.run(trial_at({1}));
  INFO((record.failure ? record.failure->reason : std::string()));
  REQUIRE(record.status == record::Status::ok);
  REQUIRE(record.clocks.size() == 2);
  for (const auto& clock : record.clocks) {
    CHECK_FALSE(clock.same_clock);
    CHECK(clock.error_bound_ns > 0);
    const auto ahead_ns = kAheadSeconds * 1'000'000'000;
    CHECK(std::abs(clock.offset_before_ns + ahead_ns) <= clock.error_bound_ns);
    CHECK(std::abs(clock.offset_after_ns + ahead_ns) <= clock.error_bound_ns);
  }
}
