#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/network_profile.hpp>

#include <filesystem>
#include <set>
#include <string>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using namespace std::chrono_literals;
using support::contains;
using support::message_of;
namespace fs = std::filesystem;

namespace {

const fs::path kShipped = fs::path(PARETOPIPE_SOURCE_DIR) / "configs" / "networks";

}  // namespace

TEST_CASE("every profile that ships is known by name, is its file, and says what it is", "[network][shipped]") {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(kShipped)) {
    if (entry.path().extension() == ".json") files.insert(entry.path().stem());
  }
  std::set<std::string> names;
  for (const auto& [name, description] : shipped_networks()) {
    CAPTURE(name);
    names.insert(name);
    CHECK_FALSE(description.empty());
    CHECK(load_network_profile(name).name == name);
    CHECK(load_network_profile(name) == load_network_profile((kShipped / (name + ".json")).string()));
  }
  CHECK(names == files);
  CHECK(names == std::set<std::string>{"unshaped", "lan", "wifi", "lte", "5g", "wan", "lossy", "published"});
}

TEST_CASE("only the profile called unshaped shapes nothing", "[network][shipped]") {
  for (const auto& [name, description] : shipped_networks()) {
    CAPTURE(name);
    CHECK(load_network_profile(name).shaped() == (name != "unshaped"));
  }
}

TEST_CASE("the published profile is what tc makes of the published commands", "[network][shipped]") {
  const auto published = load_network_profile("published");
  CHECK(published.forward == published.backward);
  CHECK(published.forward.delay == 200ms);
  CHECK(published.forward.rate_bit_per_s == 5'000'000);
  CHECK(published.forward.burst_bytes == 4'096);
  CHECK(published.forward.queue_latency == 400ms);
}

TEST_CASE("a profile of one's own is called after its file", "[network][file]") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "cellar.json", "// why\n{\"both\": {\"delay\": \"3 ms\"}}\n");
  const auto profile = load_network_profile((folder.path() / "cellar.json").string());
  CHECK(profile.name == "cellar");
  CHECK(profile.forward.delay == 3ms);
}

TEST_CASE("errors of a profile's file begin with its name", "[network][file]") {
  const support::TemporaryFolder folder;
  const auto file = (folder.path() / "bad.json").string();
  support::write_file(file, "{\"both\": {\"loss\": 2}}");
  CHECK_THROWS_WITH(load_network_profile(file),
                    file + ": network.both.loss: \"2\" is more than certain; a probability is at most 1, or 100 %");
  support::write_file(file, "{\"both\": {},\n \"both\": {}}");
  CHECK_THROWS_WITH(load_network_profile(file), file + ": the key \"both\" stands twice in the same object");
  CHECK_THROWS_WITH(load_network_profile("/nonexistent/x.json"),
                    "read network profile /nonexistent/x.json: No such file or directory");
  CHECK_THROWS_AS(load_network_profile("x.json"), UsageError);
}

TEST_CASE("an unknown name is refused with the known ones", "[network]") {
  const auto message = message_of<UsageError>([] { load_network_profile("wify"); });
  CHECK(contains(message, "there is no network profile \"wify\"; did you mean \"wifi\"?"));
  for (const auto& network : shipped_networks()) CHECK(contains(message, network.name));
}
