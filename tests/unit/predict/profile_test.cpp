#include <paretopipe/core/error.hpp>

#include <algorithm>

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

TEST_CASE("a run that took longer than one that contains it was disturbed") {
  auto runs = a_profile({{10, 20, 30}}).devices.front().runs;
  CHECK(predict::disturbed_runs(runs).empty());
  const auto at = [&](int begin, int end) -> predict::ProfiledRun& {
    return *std::find_if(runs.begin(), runs.end(),
                         [&](const auto& run) { return run.begin == begin && run.end == end; });
  };
  CHECK(at(0, 2).median_ns() == 30e6);
  at(1, 3).compute_ns = {62'000'000, 62'000'000, 62'000'000};  // noise: the whole model takes 60 ms
  CHECK(predict::disturbed_runs(runs).empty());
  at(1, 2).compute_ns = {1, 66'000'000, 66'000'000};
  REQUIRE(predict::disturbed_runs(runs).size() == 1);
  CHECK(&runs[predict::disturbed_runs(runs).front()] == &at(1, 2));
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

TEST_CASE("codecs are kept in a profile, and a profile from before there were any reads as one without") {
  auto profile = a_profile({{1, 2}, {3, 4}});
  CHECK_FALSE(contains(json(profile).dump(), "codecs"));
  CHECK(profile.codecs() == std::vector<std::string>{"none"});
  add_codec(profile, "channel8+zstd", 5, {1}, {2});
  add_codec(profile, "uniform8", 4, {1}, {2});
  CHECK(json::parse(json(profile).dump()).get<Profile>() == profile);
  CHECK(profile.codecs() == std::vector<std::string>{"none", "channel8+zstd", "uniform8"});
  CHECK(profile.devices[1].codec("uniform8", 1)->payload_bytes == 25'000);
  CHECK(profile.devices[1].codec("uniform8", 3) == nullptr);
  profile.devices[1].codecs.resize(3);
  CHECK(profile.codecs() == std::vector<std::string>{"none", "channel8+zstd"});
}

TEST_CASE("damaged codecs of a profile are refused in a sentence") {
  auto good = a_profile({{1, 2}, {3, 4}});
  add_codec(good, "lz4", 2, {1}, {2});
  add_codec(good, "uniform8", 4, {1}, {2});
  const auto refused = [&](const auto& damage) {
    json profile = good;
    damage(profile["devices"][1]["codecs"]);
    return support::message_of<UsageError>([&] { profile.get<Profile>(); });
  };
  CHECK(refused([](json&) {}) == "(nothing was thrown)");
  CHECK(contains(refused([](json& it) { it.erase(5); }), "device 1 has no time for uniform8 at cut 2"));
  CHECK(contains(refused([](json& it) { it.erase(1); }), "lz4 at cut 2 cannot be"));
  CHECK(contains(refused([](json& it) { it[1]["codec"] = "uniform8"; }), "uniform8 at cut 1 cannot be"));
  CHECK(contains(refused([](json& it) {
                   for (std::size_t i = 3; i < 6; ++i) it[i]["codec"] = "lz4";
                 }),
                 "lz4 at cut 0 cannot be"));
  CHECK(contains(refused([](json& it) { it[0]["codec"] = "none"; }), "cannot be"));
  CHECK(contains(refused([](json& it) { it[0]["codec"] = "lz9"; }), "lz9"));
  CHECK(contains(refused([](json& it) { it[0]["payload_bytes"] = -1; }), "cannot be"));
  CHECK(contains(refused([](json& it) { it[0]["payload_bytes"] = std::int64_t{1} << 62; }), "cannot be"));
  CHECK(contains(refused([](json& it) { it[0]["encode_ns"] = json::array(); }), "cannot be"));
  CHECK(contains(refused([](json& it) { it[0]["decode_ns"][0] = -1; }), "no device can take"));
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
