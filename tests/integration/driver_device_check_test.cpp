// `paretopipe devices` as from a shell. The devices are this machine, behind launchers such as env: tests/hosts has
// real hosts.
#include <csignal>
#include <cstdlib>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A shell with a devices file, whose device "pi" has a cache of its own.
class DevicesShell : public Shell {
 public:
  DevicesShell() {
    devices = {{"local", {{"address", "127.0.0.1"}}}, {"pi", {{"launch", launcher()}, {"address", "127.0.0.1"}}}};
  }

  Words launcher(const std::string& path = "") const {
    return Words{"env"} + ("XDG_CACHE_HOME=" + cache().string()) +
           ("PATH=" + (path.empty() ? "" : path + ":") + std::getenv("PATH"));
  }
  support::Outcome devices_command(int exit_code, const std::string& arguments) const {
    write("devices.json", devices.dump());
    return run(exit_code, Words("devices " + arguments + " --devices devices.json"));
  }
  json check(int exit_code, const std::string& names = "") const {
    return json::parse(devices_command(exit_code, "check " + names + " --format json").output);
  }

  /// A program of the device that is not what it is elsewhere.
  void replace_program(const std::string& name, const std::string& script) {
    fs::create_directory(folder() / "bin");
    support::write_script(folder() / "bin" / name, script);
    devices["pi"]["launch"] = launcher((folder() / "bin").string());
  }

  fs::path cache() const { return folder() / "cache"; }
  fs::path deployed() const {
    for (const auto& entry : fs::recursive_directory_iterator(cache())) {
      if (entry.path().filename() == "paretopipe-stage") return entry.path();
    }
    return {};
  }

  json devices;
};

}  // namespace

TEST_CASE("devices list says how each is reached") {
  DevicesShell shell;
  const auto said = shell.devices_command(0, "list").output;
  check_contains(said, {"local", "this machine", "pi", "env XDG_CACHE_HOME="});
}

TEST_CASE("devices check says what each device is, and measures every way between them") {
  DevicesShell shell;
  shell.devices["pi"]["program"] = kStage;
  const auto found = shell.check(0);
  CHECK(found["well"] == true);
  REQUIRE(found["devices"].size() == 2);
  for (const auto& device : found["devices"]) {
    CAPTURE(device);
    CHECK(device["compute"]["library"] == "synthetic");
    CHECK(device["shares_clock"] == true);
    CHECK(device["host"]["cpu_count"] > 0);
    CHECK_FALSE(device["findings"].empty());
  }
  REQUIRE(found["links"].size() == 2);
  CHECK(found["links"][0]["from"] == "local");
  CHECK(found["links"][1]["from"] == "pi");
  for (const auto& link : found["links"]) {
    CHECK(link["round_trip_ns"] > 0);
    CHECK(link["rate_bit_per_s"] > 0);
  }
  check_contains(shell.devices_command(0, "check").output,
                 {"shares this machine's clock", "round trip", "can be used"});
}

TEST_CASE("a device that cannot be used is said to be so, with the reason, and the others are checked all the same") {
  DevicesShell shell;
  shell.devices["pi"]["program"] = kStage;
  shell.devices["gone"] = {{"launch", Words("sh -c 'echo Permission denied >&2; exit 255'")}};
  shell.devices["dies"] = {{"launch", Words{"env"} + "FAKE_STAGE_FAULT=older"}, {"program", kStage}};
  shell.devices["missing"] = {{"launch", Words{"no-such-launcher"}}};
  const auto found = shell.check(1);
  CHECK(found["well"] == false);
  REQUIRE(found["links"].size() == 2);
  CHECK_FALSE(found["links"][0].contains("problem"));
  const auto problem_of = [&](const std::string& name) {
    for (const auto& device : found["devices"]) {
      if (device["name"] == name) return device.value("problem", "");
    }
    return std::string("no such device");
  };
  check_contains(problem_of("gone"), {"cannot be started", "Permission denied"});
  check_contains(problem_of("dies"), {"another version"});
  check_contains(problem_of("missing"), {"no-such-launcher is not installed"});
  CHECK(problem_of("pi").empty());
  check_contains(shell.devices_command(1, "check").output, {"gone: not usable", "NOT USABLE", "Not all is well"});
}

TEST_CASE("a way between devices that cannot be used is said to be so, with the reason") {
  DevicesShell shell;
  shell.devices["pi"]["program"] = kStage;
  shell.devices.erase("local");
  const auto unknown = shell.check(1);
  CHECK_FALSE(unknown["links"][0].contains("problem"));
  check_contains(unknown["links"][1]["problem"].get<std::string>(), {"address", "devices file"});
  shell.devices["local"]["address"] = "192.0.2.1";  // of a network for documentation (RFC 5737), not of this host
  check_contains(shell.devices_command(1, "check").output, {"pi cannot reach local", "192.0.2.1"});
}

TEST_CASE("the clock of a device in another time is bounded by questions and answers", "[needs:time_namespaces]") {
  if (std::system("unshare --user --map-root-user --time --monotonic 5000 --fork true 2>/dev/null") != 0) {
    support::skip("the kernel refuses time namespaces to this user");
  }
  DevicesShell shell;
  shell.devices["pi"] = {
      {"launch", Words("unshare --user --map-root-user --time --monotonic 5000 --fork --kill-child")},
      {"program", kStage}};
  const auto found = shell.check(0, "pi")["devices"][0];
  CHECK(found["shares_clock"] == false);
  CHECK(found["clock_offset_ns"]["low"] <= 5'000'000'000'000);
  CHECK(found["clock_offset_ns"]["high"] >= 5'000'000'000'000);
  check_contains(shell.devices_command(0, "check pi").output, {"known to ±"});
}

TEST_CASE("devices deploy copies the stage program once, to where a stage is started from, and clean removes it") {
  DevicesShell shell;
  check_contains(shell.devices_command(0, "deploy pi").output, {"copied paretopipe-stage", "/programs/"});
  CHECK(support::read_file(shell.deployed()) == support::read_file(kStage));
  check_contains(shell.devices_command(0, "deploy pi").output, {"nothing was copied"});
  CHECK(shell.check(0)["well"] == true);
  support::write_file(shell.deployed(), "damaged");
  check_contains(shell.devices_command(0, "deploy pi").output, {"copied paretopipe-stage"});
  check_contains(shell.devices_command(0, "clean").output, {"pi: removed", "MiB"});
  CHECK_FALSE(fs::exists(shell.cache() / "paretopipe"));
  check_contains(shell.devices_command(0, "clean").output, {"pi: removed 0 B"});
}

TEST_CASE("a device that the programs cannot run on is refused with what to install, and nothing stays there") {
  DevicesShell shell;
  std::string named;
  SECTION("another architecture") {
    shell.replace_program("uname", "echo aarch64");
    named = "architecture aarch64";
  }
  SECTION("libraries that are missing") {
    shell.replace_program("ldd", "printf '\\tlibfmt.so.9 => not found\\n\\tlibm.so.6 => /lib/libm.so.6 (0x7f)\\n'");
    named = "libfmt.so.9 (Debian's package libfmt9)";
  }
  SECTION("a disk that is full") {
    shell.replace_program("cat", "echo 'cat: write error: No space left on device' >&2; exit 1");
    named = "No space left on device";
  }
  SECTION("a copy that was damaged on the way") {
    shell.replace_program("cat", "head -c 1000");
    named = "whole";
  }
  check_contains(shell.devices_command(3, "deploy pi").errors, {"pi", named});
  CHECK_FALSE(fs::exists(shell.cache() / "paretopipe"));
}

TEST_CASE("a copy that is interrupted leaves nothing behind") {
  DevicesShell shell;
  // It takes nothing in as long as this file is there: more than fits into the socket is under way when it is removed.
  const auto reached = shell.folder() / "reached";
  shell.replace_program("cat", "echo >" + reached.string() + "; while [ -e " + reached.string() +
                                   " ]; do sleep 0.01; done; exec /bin/cat");
  shell.write("devices.json", shell.devices.dump());
  auto program = shell.start(Words("devices deploy pi --devices devices.json"));
  REQUIRE(support::wait_until_written(reached));
  ::kill(program.pid(), SIGINT);
  fs::remove(reached);
  CHECK(program.wait().exit_code == 130);
  CHECK_FALSE(fs::exists(shell.cache() / "paretopipe"));
}

TEST_CASE("devices that cannot be meant are refused") {
  DevicesShell shell;
  shell.devices["own"] = {{"launch", Words{"env"}}, {"program", kStage}};
  check_contains(shell.devices_command(2, "deploy local").errors, {"local is this machine"});
  check_contains(shell.devices_command(2, "deploy own").errors, {"\"program\""});
  check_contains(shell.devices_command(2, "check pj").errors, {"pj", "did you mean \"pi\""});
  check_contains(shell.devices_command(2, "check pi pi").errors, {"named twice"});
}
