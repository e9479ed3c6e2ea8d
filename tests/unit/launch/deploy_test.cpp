#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/deploy.hpp>
#include <paretopipe/launch/launcher.hpp>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/temporary_folder.hpp>
#include <support/thrown.hpp>

#include "shell_child.hpp"

using namespace paretopipe;
using namespace paretopipe::launch;
namespace fs = std::filesystem;

namespace {

/// A host behind a program of this name that works as ssh does: after the destination, it joins its words and hands
/// them to the login's shell. The login exports `d`, a folder of its own.
class HostBehind {
 public:
  explicit HostBehind(const std::string& name) {
    support::write_script(folder_.path() / name, "shift; export XDG_CACHE_HOME='" + folder_.path().string() +
                                                     "/cache' d='" + own().string() + "'; exec /bin/sh -c \"$*\"");
    fs::create_directory(own());
    support::write_file(own() / "letter", "of the login");
    support::write_script(program(), "echo deployed");
    reach_ = {"pi", {"env", (folder_.path() / name).string(), "pi"}};
  }

  const Reach& reach() const { return reach_; }
  fs::path own() const { return folder_.path() / "own"; }
  fs::path program() const { return folder_.path() / "program"; }
  fs::path cache() const { return folder_.path() / "cache" / "paretopipe"; }
  std::vector<Deployed> programs() const { return {{program(), "paretopipe-stage", sha256_of_file(program())}}; }

 private:
  support::TemporaryFolder folder_;
  Reach reach_;
};

}  // namespace

TEST_CASE("through a program around ssh, programs are deployed, found where they are looked for, and cleaned away",
          "[deploy]") {
  const HostBehind host("ssh");
  const auto programs = host.programs();
  const auto file = host.cache() / "programs" / programs[0].sha256 / "paretopipe-stage";
  const auto deployment = deploy(host.reach(), programs);
  CHECK(deployment.folder == file.parent_path());
  CHECK(deployment.copied == std::vector<std::string>{"paretopipe-stage"});
  CHECK(sha256_of_file(file) == programs[0].sha256);
  CHECK(deploy(host.reach(), programs).copied.empty());
  const auto start = command_over(host.reach().launcher, guard_command("", programs[0].sha256));
  CHECK(run_command({.argv = with_found_program(start)}, testing::kPatienceMs).output == "deployed\n");
  CHECK(clean_cache(host.reach()) == static_cast<std::int64_t>(fs::file_size(host.program())));
  CHECK_FALSE(fs::exists(host.cache()));
  CHECK(fs::exists(host.own() / "letter"));
}

TEST_CASE("a launcher that takes scripts apart is an error that says so, and no folder of the login is touched",
          "[deploy]") {
  const HostBehind host("to");
  const std::initializer_list<std::string_view> said{"pi cannot be reached", "the launcher took this command apart"};
  support::check_throws<EnvironmentError>([&] { clean_cache(host.reach()); }, said);
  CHECK(support::read_file(host.own() / "letter") == "of the login");
  support::check_throws<EnvironmentError>([&] { deploy(host.reach(), host.programs()); }, said);
  CHECK_FALSE(fs::exists(host.cache()));
  const auto start = command_over(host.reach().launcher, guard_command("", "abc"));
  const auto ended = run_command({.argv = with_found_program(start)}, testing::kPatienceMs);
  CHECK(ended.output.find(kUnquoted) != std::string::npos);
}

TEST_CASE("the answers of a script are found in whatever a login prints", "[deploy]") {
  const std::string output =
      "Welcome!\nPARETOPIPE folder /home/a b/.cache\nPARETOPIPE has paretopipe\r\n PARETOPIPE x y\nPARETOPIPE "
      "done\nbye";
  using Answers = std::vector<std::pair<std::string, std::string>>;
  CHECK(parse_answers(output) == Answers{{"folder", "/home/a b/.cache"}, {"has", "paretopipe"}, {"done", ""}});
  CHECK(parse_answers("").empty());
  CHECK(parse_answers("PARETOPIPE").empty());
}

TEST_CASE("the package of a library follows from its name, but for those that are called otherwise", "[deploy]") {
  CHECK(debian_package_of("libfmt.so.9") == "libfmt9");
  CHECK(debian_package_of("libpng16.so.16") == "libpng16-16");
  CHECK(debian_package_of("libstdc++.so.6") == "libstdc++6");
  CHECK(debian_package_of("libtorch_cpu.so.1.13") == "libtorch1.13");
  CHECK(debian_package_of("libc10.so.2.6") == "libtorch2.6");
  CHECK(debian_package_of("libcrypto.so.3") == "libssl3");
  CHECK(debian_package_of("libz.so.1") == "zlib1g");
  CHECK(own_package("aarch64") == "paretopipe_" + std::string(version()) + "_arm64.deb");
  CHECK(own_package("riscv64") == "a paretopipe that was built for riscv64");
  CHECK(debian_package_of("libjpeg.so.62") == "libjpeg62-turbo");
  for (const auto* unknown : {"", "libtorch.so", ".so.1", "/lib/libc.so"}) CHECK(debian_package_of(unknown).empty());
}

TEST_CASE("what was deployed lies in the cache, under the SHA-256 of the stage program", "[deploy]") {
  CHECK(program_folder("ab12") == cache_folder() + "/programs/ab12");
}
