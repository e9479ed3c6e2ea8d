#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/scoped_variable.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using launch::find_stage_program;
using support::contains;

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
