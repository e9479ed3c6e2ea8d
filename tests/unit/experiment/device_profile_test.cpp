#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/device_profile.hpp>
#include <paretopipe/experiment/devices.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <filesystem>
#include <set>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using nlohmann::json;
using support::contains;
using support::message_of;
namespace fs = std::filesystem;

namespace {

using Lists = std::vector<std::string>;

Experiment placed(const Placement& placement, const Lists& profiles = {}) {
  Experiment experiment;
  experiment.stages = static_cast<int>(placement.size());
  experiment.placement = placement;
  experiment.device_profiles = profiles;
  return experiment;
}

/// A profile in a file, which may name the CPUs.
std::string file_with(const support::TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const auto file = folder.path() / (name + ".json");
  support::write_file(file, text);
  return file.string();
}

}  // namespace

TEST_CASE("every device profile that ships is known by name, and is its file", "[device]") {
  const fs::path shipped = fs::path(PARETOPIPE_SOURCE_DIR) / "configs" / "devices";
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(shipped)) {
    if (entry.path().extension() != ".json") continue;
    const auto name = entry.path().stem().string();
    names.insert(name);
    CHECK(load_device_profile(name) == load_device_profile(entry.path().string()));
    CHECK(load_device_profile(name).emulated());
  }
  CHECK(names == std::set<std::string>{"pi", "server"});
  CHECK(load_device_profile("pi").limited());
  CHECK_FALSE(load_device_profile("server").limited());
}

TEST_CASE("a profile restricts what it names and nothing else", "[device]") {
  const auto profile = device_profile_from_json(
      json::parse(
          R"({"description": "d", "cpus": [0, 2, 1], "threads": 2, "cpu_quota": 0.5, "memory_limit": "1 GiB"})"),
      "mine");
  CHECK(profile.name == "mine");
  CHECK(profile.cpus == "0-2");
  CHECK(profile.threads == 2);
  CHECK(profile.cpu_quota == 0.5);
  CHECK(profile.memory_limit_bytes == std::int64_t{1} << 30);
  CHECK(describe(profile) == "mine (on CPUs 0-2, 0.5 CPUs, 1.00 GiB, 2 threads)");
  CHECK(json(profile).get<DeviceProfile>() == profile);
  CHECK(device_profile_from_json(json::parse(R"({"cpus": "0-3"})"), "mine").cpus == "0-3");
  const auto empty = device_profile_from_json(json::object(), "mine");
  CHECK(json(empty) == json::parse(R"({"name": "mine"})"));
  CHECK(describe(empty) == "mine");
}

TEST_CASE("nonsense in a device profile is refused by its key", "[device]") {
  const auto refusal = [](const char* text) {
    return message_of<UsageError>([&] { device_profile_from_json(json::parse(text), "mine"); });
  };
  CHECK(contains(refusal(R"({"cpu_quota": 0})"), "device profile.cpu_quota is 0; it must be a number of CPUs"));
  CHECK(contains(refusal(R"({"cpu_quota": -1})"), "device profile.cpu_quota"));
  CHECK(contains(refusal(R"({"cpu_quota": "half"})"), "device profile.cpu_quota has the wrong type"));
  CHECK(contains(refusal(R"({"threads": 0})"), "device profile.threads is 0; it must be from 1"));
  CHECK(contains(refusal(R"({"memory_limit": 1000000})"),
                 "device profile.memory_limit is 1000000; it must be an amount"));
  CHECK(contains(refusal(R"({"memory_limit": "1 MiB"})"), "at least 4 MiB"));
  CHECK(contains(refusal(R"({"cpus": []})"), "device profile.cpus"));
  CHECK(contains(refusal(R"({"cpus": [true]})"), "device profile.cpus is [true]"));
  CHECK(contains(refusal(R"({"memory": "1 GiB"})"), "unknown key \"memory\""));
}

TEST_CASE("an unknown device profile is answered with the known ones", "[device]") {
  CHECK(contains(message_of<UsageError>([] { load_device_profile("pie"); }), "did you mean \"pi\"?"));
  CHECK_FALSE(load_device_profile("none").emulated());
  CHECK(load_device_profiles({"none", "none"}).empty());
  CHECK(load_device_profiles({"none", "pi"}).size() == 2);
  const support::TemporaryFolder folder;
  CHECK(contains(message_of<UsageError>([&] { load_device_profile(file_with(folder, "none", "{}")); }),
                 "rename the file"));
}

TEST_CASE("there is a device profile for every device, not for every stage", "[device]") {
  CHECK_NOTHROW(validate(placed({0, 1, 0}, {"pi", "none"})));
  CHECK(contains(message_of<UsageError>([] {
                   validate(placed({0, 1, 0}, {"pi", "none", "pi"}));
                 }),
                 "one for each of the 2 devices"));
  auto without_placement = placed({0, 1});
  without_placement.placement = {};
  without_placement.device_profiles = {"pi"};
  CHECK(contains(message_of<UsageError>([&] { validate(without_placement); }), "one for each of the 2 devices"));
}

TEST_CASE("threads that no device would have are refused", "[device]") {
  auto experiment = placed({0, 1}, {"pi", "pi"});
  experiment.threads_per_stage = {1, 2};
  CHECK(contains(message_of<UsageError>([&] { validate(experiment); }),
                 "experiment.threads_per_stage is for devices whose profile"));
  experiment.device_profiles = {"pi", "server"};
  CHECK_NOTHROW(validate(experiment));
}

TEST_CASE("all stages on one device cannot have a network between them", "[device]") {
  auto experiment = placed({0, 0});
  CHECK_NOTHROW(validate(experiment));
  experiment.networks = {"wifi"};
  CHECK(contains(message_of<UsageError>([&] { validate(experiment); }), "nothing crosses the network wifi"));
}

TEST_CASE("devices share the CPUs out, and stages share those of their device", "[device]") {
  CHECK(assign_cpus(placed({0, 1}), {0, 1, 2, 3}) == Lists{"0-1", "2-3"});
  CHECK(assign_cpus(placed({0, 1, 0}), {0, 1, 2, 3}) == Lists{"0-1", "2-3", "0-1"});
  CHECK(assign_cpus(Experiment{}, {0}) == Lists{"0", "0"});
}

TEST_CASE("CPUs that a profile names are its device's, and the others share the rest", "[device]") {
  const support::TemporaryFolder folder;
  const auto mine = file_with(folder, "mine", R"({"cpus": [1]})");
  CHECK(assign_cpus(placed({0, 1, 0}, {mine, "none"}), {0, 1, 2}) == Lists{"1", "0,2", "1"});
  CHECK(assign_cpus(placed({0, 1}, {mine, "none"}), {1}) == Lists{"1", "1"});
}

TEST_CASE("CPUs named twice are refused", "[device]") {
  const support::TemporaryFolder folder;
  auto experiment = placed({0, 1}, {file_with(folder, "mine", R"({"cpus": [1]})"), "none"});
  experiment.cpus = {"0", "1"};
  CHECK(contains(message_of<UsageError>([&] {
                   assign_cpus(experiment, {0, 1});
                 }),
                 "names the CPUs 1, and so does experiment.cpus"));
  auto shared = placed({0, 1, 0});
  shared.cpus = {"0", "1", "1"};
  CHECK(contains(message_of<UsageError>([&] { validate(shared); }), "puts both on device 0"));
  shared.cpus = {"0", "1", "0"};
  CHECK_NOTHROW(validate(shared));
}
