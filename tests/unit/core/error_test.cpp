#include <paretopipe/core/error.hpp>
#include <paretopipe/core/version.hpp>

#include <algorithm>
#include <cerrno>
#include <string>

#include <support/catch.hpp>

using namespace paretopipe;

TEST_CASE("a system error says what was attempted and why it failed", "[error]") {
  const auto error = system_error("open /x/records.jsonl", ENOSPC);
  CHECK(std::string(error.what()) == "open /x/records.jsonl: No space left on device");
  CHECK(error.code() == ExitCode::environment);
}

TEST_CASE("every kind of error carries the exit code that is documented for it", "[error]") {
  CHECK(UsageError("x").code() == ExitCode::usage);
  CHECK(EnvironmentError("x").code() == ExitCode::environment);
  CHECK(Interrupted().code() == ExitCode::interrupted);
  CHECK(static_cast<int>(ExitCode::success) == 0);
  CHECK(static_cast<int>(ExitCode::negative) == 1);
  CHECK(static_cast<int>(ExitCode::usage) == 2);
  CHECK(static_cast<int>(ExitCode::environment) == 3);
  CHECK(static_cast<int>(ExitCode::internal) == 4);
  CHECK(static_cast<int>(ExitCode::interrupted) == 130);
}

TEST_CASE("the version has three numbers, and the git state is never empty", "[version]") {
  const std::string release(version());
  CHECK(std::count(release.begin(), release.end(), '.') == 2);
  CHECK(release.find_first_not_of("0123456789.") == std::string::npos);
  CHECK_FALSE(git_state().empty());
}
