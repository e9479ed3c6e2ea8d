// The machines that stages run on: the devices file, the names that say how a device is reached, and what follows from
// them for an experiment.
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/device.hpp>
#include <paretopipe/experiment/devices.hpp>
#include <paretopipe/experiment/plan.hpp>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/scoped_variable.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using nlohmann::json;

namespace {

const std::string kNothing = support::message_of<UsageError>([] {});

std::string file_refusal(const char* text) {
  return support::message_of<UsageError>([&] { devices_from_json(json::parse(text)); });
}

std::string refusal_of_name(const std::string& name) {
  return support::message_of<UsageError>([&] { find_devices({name}, {}); });
}

Device remote(const std::string& name) {
  Device device;
  device.name = name;
  device.ssh = name;
  return device;
}

}  // namespace

TEST_CASE("a device is what its file says", "[device]") {
  const auto devices = devices_from_json(json::parse(R"({
    "pi": {"ssh": "pi@10.0.0.7", "address": "10.1.0.7", "ports": "47000-47010", "program": "/opt/paretopipe-stage",
           "cpus": "0-3", "threads": 4, "compute": "cpu", "profile": "pi"},
    "n1": {"launch": "srun -w {node} --comment={node}/{node}", "ports": "47000"},
    "pod": {"launch": ["kubectl", "exec", "-i", "a pod", "--"]},
    "local": {"address": "10.1.0.1"}})"));
  REQUIRE(devices.size() == 4);
  const auto& [local, n1, pi, pod] = std::tie(devices[0], devices[1], devices[2], devices[3]);
  CHECK(pi ==
        Device{"pi", "pi@10.0.0.7", {}, "10.1.0.7", 47000, 47010, "/opt/paretopipe-stage", "0-3", 4, "cpu", "pi"});
  CHECK(n1.launch == std::vector<std::string>{"srun", "-w", "n1", "--comment=n1/n1"});
  CHECK((n1.first_port == 47000 && n1.last_port == 47000));
  CHECK(pod.launch.at(3) == "a pod");
  CHECK((local.local() && !pi.local() && !pod.local()));
}

TEST_CASE("a device that cannot be meant is refused by its key", "[device]") {
  CHECK(file_refusal("[]") == "devices must be a JSON object, whose keys are the devices' names");
  CHECK(file_refusal(R"({"pi": {"shh": "pi"}})").find("devices.pi has an unknown key \"shh\"") == 0);
  CHECK(file_refusal(R"({"pi": {}})") ==
        "devices.pi says nothing of how a process is started there; give it \"ssh\" or \"launch\"");
  CHECK(file_refusal(R"({"pi": {"ssh": "a", "launch": "b"}})") ==
        "devices.pi has \"ssh\" and \"launch\"; a device is started in one way");
  CHECK(file_refusal(R"({"local": {"ssh": "a"}})") ==
        "devices.local is the name of this machine, which needs no launcher");
  CHECK(file_refusal(R"({"pi": {"ssh": "pi", "threads": 0}})") == "devices.pi.threads is 0; it must be 1 to 1024");
  CHECK(file_refusal(R"({"pi": {"ssh": "pi", "cpus": "4-"}})").find("devices.pi: ") == 0);
  CHECK(file_refusal(R"({"pi": {"ssh": "pi", "compute": "gpu"}})").find("devices.pi: ") == 0);
  CHECK(file_refusal(R"({"pi": {"launch": []}})") ==
        "devices.pi.launch must be a command, as a text or as a list of words");
  for (const auto* ports : {"", "0", "47010-47000", "70000", "1-", "47000-47010-", "a-b"}) {
    CAPTURE(ports);
    const auto text = fmt::format(R"({{"pi": {{"ssh": "pi", "ports": "{}"}}}})", ports);
    CHECK((*ports == '\0' ? file_refusal(text.c_str()) == kNothing
                          : file_refusal(text.c_str()).find("devices.pi.ports") == 0));
  }
}

TEST_CASE("a destination can never become an option of ssh", "[device]") {
  CHECK(file_refusal(R"({"pi": {"ssh": "-oProxyCommand=touch x"}})").find("devices.pi.ssh is \"-oProxy") == 0);
  CHECK(refusal_of_name("ssh:-oProxyCommand=x").find("--on ssh:-oProxyCommand=x is ") == 0);
  CHECK(refusal_of_name("ssh:a b") != kNothing);
  CHECK(refusal_of_name("ssh:") != kNothing);
}

TEST_CASE("a device is found in the user's file, in the file that is named, or by what its name says", "[device]") {
  const support::TemporaryFolder home;
  std::filesystem::create_directories(home.path() / "paretopipe");
  support::write_file(home.path() / "paretopipe" / "devices.json", R"({"pi": {"ssh": "users"}})");
  support::write_file(home.path() / "other.json", R"({"pi": {"ssh": "other"}})");
  const support::ScopedVariable folder("XDG_CONFIG_HOME", home.path().string());
  CHECK(find_devices({"pi"}, {}).front().ssh == "users");
  CHECK(find_devices({"pi"}, home.path() / "other.json").front().ssh == "other");
  const auto found = find_devices({"local", "ssh:me@10.0.0.7", "ssh://me@host:2222", "pi", "pi"}, {});
  REQUIRE(found.size() == 5);
  CHECK(found[0].local());
  CHECK((found[1].name == "ssh:me@10.0.0.7" && found[1].ssh == "me@10.0.0.7"));
  CHECK((found[2].name == "ssh://me@host:2222" && found[2].ssh == "ssh://me@host:2222"));
  CHECK(found[3] == found[4]);
  CHECK(refusal_of_name("pie").find("; known: local, pi, or ssh:USER@HOST; did you mean \"pi\"?") != std::string::npos);
  CHECK(support::message_of<UsageError>([&] { find_devices({"pi"}, home.path() / "none.json"); }) != kNothing);
}

TEST_CASE("devices decide how many stages there are, which share a device, and what computes", "[device]") {
  Experiment experiment;
  auto gpu = remote("server");
  gpu.compute = "cuda:0";
  settle_devices(experiment, {Device{}, gpu, Device{}});
  CHECK(experiment.stages == 3);
  CHECK(experiment.placement == Placement{0, 1, 0});
  CHECK(experiment.compute_devices == std::vector<std::string>{"cpu", "cuda:0", "cpu"});
  Experiment untouched;
  settle_devices(untouched, {});
  CHECK(untouched == Experiment{});
}

TEST_CASE("a profile in a file lies beside the devices file, wherever a person is", "[device]") {
  const support::TemporaryFolder folder;
  support::write_file(folder.path() / "board.json", R"({"threads": 1})");
  support::write_file(folder.path() / "devices.json", R"({"pi": {"ssh": "pi", "profile": "board.json"}})");
  const auto devices = load_devices(folder.path() / "devices.json");
  CHECK(devices.at(0).profile == (folder.path() / "board.json").string());
}

TEST_CASE("the profile of a device is that of all its stages, and others have none", "[device]") {
  Experiment experiment;
  auto server = remote("server");
  server.profile = "./server.json";
  settle_devices(experiment, {server, Device{}, server});
  CHECK(experiment.device_profiles == std::vector<std::string>{"./server.json", "none"});
  CHECK(file_refusal(R"({"pi": {"ssh": "pi", "profile": "piano"}})").find("devices.pi: ") == 0);
  Experiment unrestricted;
  unrestricted.device_profiles = {"pi", "none"};
  settle_devices(unrestricted, {Device{}, remote("server")});
  CHECK(unrestricted.device_profiles == std::vector<std::string>{"pi", "none"});
}

TEST_CASE("what devices decide is not said again", "[device]") {
  const auto refusal_with = [](auto change, std::vector<Device> on) {
    Experiment experiment;
    change(experiment);
    return support::message_of<UsageError>([&] { settle_devices(experiment, on); });
  };
  const std::vector<Device> two{Device{}, remote("pi")};
  const auto nothing = [](Experiment&) {};
  CHECK(refusal_with(nothing, two) == kNothing);
  CHECK(refusal_with(nothing, {remote("pi")}).find("experiment.on names one device") == 0);
  CHECK(refusal_with([](Experiment& one) { one.stages = 3; }, two).find("experiment.stages says it again") !=
        std::string::npos);
  CHECK(refusal_with(
            [](Experiment& one) {
              one.placement = {0, 1};
            },
            two)
            .find("experiment.placement") != std::string::npos);
  CHECK(refusal_with([](Experiment& one) { one.cpus = {"0", "1"}; }, two).find("experiment.cpus") != std::string::npos);
  CHECK(refusal_with([](Experiment& one) { one.compute_devices = {"cpu"}; }, two).find("experiment.compute_devices") !=
        std::string::npos);
  auto profiled = two;
  profiled.back().profile = "pi";
  CHECK(refusal_with(
            [](Experiment& one) {
              one.device_profiles = {"pi", "none"};
            },
            profiled)
            .find("experiment.device_profiles") != std::string::npos);
  auto with_threads = two;
  for (auto& device : with_threads) device.threads = 2;
  const auto more_threads = [](Experiment& one) { one.threads_per_stage = {1, 2}; };
  CHECK(refusal_with(more_threads, with_threads).find("experiment.threads_per_stage") != std::string::npos);
  with_threads.front().threads.reset();
  CHECK(refusal_with(more_threads, with_threads) == kNothing);
}

TEST_CASE("a device's address is a number, for its own name may be its loopback's", "[device]") {
  const auto with_address = [](const std::string& address) {
    return R"({"pi": {"ssh": "pi", "address": ")" + address + "\"}}";
  };
  for (const auto* address : {"10.0.0.7", "fd00::7", "fe80::1%eth0"}) {
    CHECK_NOTHROW(devices_from_json(json::parse(with_address(address))));
  }
  for (const auto* address : {"pi.local", "10.0.0", "10.0.0.7:5000"}) {
    CHECK(file_refusal(with_address(address).c_str()).find("devices.pi.address is") != std::string::npos);
  }
}

TEST_CASE("a file that names devices leaves to them what they decide", "[device]") {
  auto experiment = experiment_from_json(json::parse(
      R"({"on": ["local", "pi", "local"], "task": "train", "data": "random", "partitions": ["1,19"],
          "baselines": ["data-parallel"], "batch": 64, "micro_batches": [16]})"));
  settle_devices(experiment, {Device{}, remote("pi"), Device{}});
  CHECK(experiment.stages == 3);
  CHECK_NOTHROW(validate(experiment));
  CHECK_THROWS_AS(experiment_from_json(json::parse(R"({"on": ["local", "pi"], "depth": 0})")), UsageError);
}

TEST_CASE("this machine's CPUs are dealt out to its own stages only", "[device]") {
  auto named = remote("named");
  named.cpus = "4-5";
  const std::vector<Device> on{Device{}, remote("pi"), named, Device{}};
  Experiment experiment;
  settle_devices(experiment, on);
  CHECK(assign_cpus(experiment, {0, 1, 2, 3}, on) == std::vector<std::string>{"0-3", "", "4-5", "0-3"});
  CHECK(assign_cpus(experiment, {2, 3, 4, 5, 6, 7}, on) == std::vector<std::string>{"2-7", "", "4-5", "2-7"});
}

TEST_CASE("a device's threads are those of its stages, and part of the trial", "[device]") {
  auto pi = remote("pi");
  pi.threads = 4;
  Experiment experiment;
  experiment.on = {"local", "pi"};
  settle_devices(experiment, {Device{}, pi});
  PlanInputs inputs;
  inputs.on = {Device{}, pi};
  const auto trial = uncut_trial(experiment, {"resnet18", {}, {}}, Shaping::none, inputs);
  CHECK((trial.threads_of(0) == experiment.threads_per_stage.first() && trial.threads_of(1) == 4));
  CHECK(trial.on == experiment.on);
  inputs.on = {Device{}, remote("pi")};
  CHECK(uncut_trial(experiment, {"resnet18", {}, {}}, Shaping::none, inputs).stage_threads.empty());
}
