#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/deploy.hpp>
#include <paretopipe/launch/launcher.hpp>

#include <string>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::launch;

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
