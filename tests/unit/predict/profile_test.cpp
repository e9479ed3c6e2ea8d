#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "profiles.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using nlohmann::json;
using predict::Profile;
using support::contains;

namespace {

/// What the reader says of a good profile to which this was done.
template <class Damage>
std::string refusal(const Damage& damage) {
  json profile = a_profile({{1, 2, 3}, {4, 5, 6}});
  damage(profile);
  return support::message_of<UsageError>([&] { profile.get<Profile>(); });
}

}  // namespace

TEST_CASE("a profile comes back from its text with everything that it holds") {
  auto profile = a_profile({{1, 2, 3}, {4, 5, 6}});
  profile.mode = {experiment::Compute::optimized, experiment::Precision::bfloat16};
  profile.weights_sha256 = "cd34";
  profile.seed = 18446744073709551615U;
  profile.devices.front().profile = "raspberry-pi-4b";
  profile.devices.front().runs.front().memory_bytes.reset();
  const auto text = json(profile).dump();
  CHECK(json::parse(text).get<Profile>() == profile);
  CHECK_FALSE(contains(json(a_profile({{1}})).dump(), "device_profile"));
}

TEST_CASE("a damaged profile is refused with a sentence that names the place") {
  CHECK(contains(refusal([](json& it) { it["schema"] = 2; }), "schema"));
  CHECK(contains(refusal([](json& it) { it.erase("model"); }), "profile is damaged"));
  CHECK(contains(refusal([](json& it) { it["devices"][1]["runs"].erase(4); }),
                 "device 1 has no time for the blocks 1 to 2"));
  CHECK(contains(refusal([](json& it) { it["devices"][0]["runs"].push_back(it["devices"][0]["runs"][0]); }),
                 "more runs"));
  CHECK(contains(refusal([](json& it) { it["devices"][0]["runs"][0]["compute_ns"] = json::array(); }), "has no time"));
  CHECK(contains(refusal([](json& it) { it["devices"][0]["runs"][0]["compute_ns"][0] = -1; }), "no device can take"));
  CHECK(contains(refusal([](json& it) { it["devices"] = json::array(); }), "0 devices"));
  CHECK(contains(refusal([](json& it) { it["model"]["batch"] = 0; }), "at batch 0"));
  CHECK(contains(refusal([](json& it) { it["links"][0]["to"] = 2; }), "from device 0 to device 2"));
  CHECK(contains(refusal([](json& it) { it["links"][0]["rate_bit_per_s"] = 0.0; }), "cannot be"));
  CHECK(contains(refusal([](json& it) { it["num_classes"] = 8.5; }), "num_classes"));
}

TEST_CASE("a file that is no profile is refused by its name") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "p.json", json(a_profile({{1}})).dump());
  CHECK(predict::load_profile(folder.path() / "p.json") == a_profile({{1}}));
  support::write_file(folder.path() / "no.json", "{}");
  const auto said = support::message_of<UsageError>([&] { predict::load_profile(folder.path() / "no.json"); });
  CHECK(contains(said, "no.json"));
  CHECK(contains(said, "schema"));
}

TEST_CASE("profiles go together if they are of one model in one mode, with the same weights") {
  const auto profile = a_profile({{1, 2}});
  CHECK(predict::difference(profile, a_profile({{5, 6}, {7, 8}})).empty());
  const auto differs = [&](const auto& change) {
    auto other = profile;
    change(other);
    return predict::difference(profile, other);
  };
  CHECK(differs([](auto& it) { it.model.model = "n"; }) == "their models are m and n");
  CHECK(differs([](auto& it) { it.model.batch = 8; }) == "their batches are 2 and 8");
  CHECK(differs([](auto& it) { it.mode.compute = experiment::Compute::optimized; }) ==
        "their modes are eager and optimized");
  CHECK(contains(differs([](auto& it) { it.model.blocks.pop_back(); }), "other blocks"));
  CHECK(contains(differs([](auto& it) { it.num_classes = 9; }), "other blocks"));
  CHECK(contains(differs([](auto& it) { it.seed = 9; }), "other weights"));
  CHECK(contains(differs([](auto& it) { it.weights_sha256 = "9"; }), "other weights"));
}
