#include <cstdlib>
#include <filesystem>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// A stage program that a shell interprets: one that says and does anything but serve.
std::filesystem::path make_script(const support::TemporaryFolder& folder, const std::string& body) {
  const auto script = folder.path() / "stage.sh";
  support::write_file(script, "#!/bin/sh\n" + body + "\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

/// What a person reads whose stage program is `program`, at the first question that a sweep asks it.
std::string complaint_about(const std::filesystem::path& program, int timeout_s = 60,
                            const experiment::Trial& trial = trial_at({1})) {
  run::PipelineExecutor executor(options_with(program, timeout_s));
  return support::message_of<Error>([&] { executor.describe(trial); });
}

}  // namespace

TEST_CASE("a program that is not there is an error that names it") {
  const auto message = complaint_about("/no/such/stage");
  CHECK(contains(message, "start /no/such/stage: No such file or directory"));
  CHECK(support::own_children().empty());
}

TEST_CASE("a file that cannot be executed is an error that names it") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "data", "not a program");
  CHECK(contains(complaint_about(folder.path() / "data"), "Permission denied"));
  CHECK(support::own_children().empty());
}

TEST_CASE("a program that is no stage is an error that says how it ended") {
  // All stages are started at once, so that any of them may be the first to end.
  for (const auto& [program, end] : {std::pair("/bin/true", " exited with status 0"),
                                     {"/bin/false", " exited with status 1"},
                                     {"/bin/cat", "cat: serve"}}) {
    const auto complaint = complaint_about(program);
    INFO(complaint);
    CHECK(contains(complaint, end));
  }
  CHECK(support::own_children().empty());
}

TEST_CASE("the last words of a stage program that gives up are in the error") {
  const support::TemporaryFolder folder;
  const auto script = make_script(folder, "echo 'no OpenBLAS on this machine' >&2; exit 3");
  const auto message = complaint_about(script);
  CHECK(contains(message, "exited with status 3"));
  CHECK(contains(message, "no OpenBLAS on this machine"));
}

TEST_CASE("a stage's memory lies in huge pages, unless the malloc is not to be tuned or the user tunes it") {
  const support::TemporaryFolder folder;
  const auto script = make_script(folder, "echo \"tunables: $GLIBC_TUNABLES.\" >&2; exit 3");
  CHECK(contains(complaint_about(script), "tunables: glibc.malloc.hugetlb=1."));
  auto plain = trial_at({1});
  plain.tuning.tune_malloc = false;
  CHECK(contains(complaint_about(script, 60, plain), "tunables: ."));
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=3", 1);
  CHECK(contains(complaint_about(script), "tunables: glibc.malloc.tcache_count=3."));
  ::unsetenv("GLIBC_TUNABLES");
}

TEST_CASE("a program that answers with something else than the protocol is an error") {
  const support::TemporaryFolder folder;
  const auto script = make_script(folder, "while :; do echo 'GET / HTTP/1.1'; done >&3");
  const auto message = complaint_about(script);
  CAPTURE(message);
  CHECK(contains(message, "spoke another protocol"));
  CHECK(support::own_children().empty());
}

TEST_CASE("a program that never answers is given up at the timeout") {
  const support::TemporaryFolder folder;
  const auto script = make_script(folder, "exec sleep 1000");
  CHECK(contains(complaint_about(script, 1), "no answer in time"));
  CHECK(support::own_children().empty());
}

TEST_CASE("a program that closes its control link but does not end is killed") {
  const support::TemporaryFolder folder;
  const auto script = make_script(folder, "exec 3>&-; exec sleep 1000");
  CHECK(contains(complaint_about(script), "was killed by signal 9"));
  CHECK(support::own_children().empty());
}

TEST_CASE("a stage program that cannot be started is not a failure record of every trial but the end of the sweep") {
  run::PipelineExecutor executor(options_with("/no/such/stage"));
  CHECK_THROWS_AS(executor.run(trial_at({1})), EnvironmentError);
}
