#include <paretopipe/host/host_context.hpp>

#include <string>

#include <sys/utsname.h>

#include <support/catch.hpp>

#include "fake_machine.hpp"

using namespace paretopipe::host;

TEST_CASE("the context of this machine is complete and the same at every reading", "[host]") {
  const auto context = read_host_context();
  utsname names{};
  REQUIRE(uname(&names) == 0);
  CHECK(context.hostname == names.nodename);
  CHECK(context.architecture == names.machine);
  CHECK(context.kernel == std::string("Linux ") + names.release);
  CHECK(context.boot_id.size() == 36);
  CHECK_FALSE(context.os.empty());
  CHECK(context.cpu_count >= 1);
  CHECK(context.memory_bytes > (std::int64_t{1} << 26));
  CHECK(context == read_host_context());
  const auto state = read_host_state();
  CHECK(state.load_average_1min >= 0);
  CHECK(state.available_memory_bytes > 0);
  CHECK(state.available_memory_bytes <= context.memory_bytes);
}

TEST_CASE("context and state come back from JSON as they were, with and without a governor and a frequency", "[host]") {
  HostContext context{.hostname = "edge-1",
                      .boot_id = "bbc85e29-3425-4d6d-9d3a-21c8b0a6b3de",
                      .time_namespace = "time:[4026531834]",
                      .kernel = "Linux 6.1.0",
                      .os = "Debian GNU/Linux 12 (bookworm)",
                      .architecture = "aarch64",
                      .cpu_model = "Raspberry Pi 4 Model B",
                      .cpu_count = 4,
                      .memory_bytes = 8'000'000'000,
                      .governor = "ondemand"};
  CHECK(nlohmann::json(context).get<HostContext>() == context);
  context.governor.reset();
  CHECK(nlohmann::json(context).get<HostContext>() == context);
  CHECK_FALSE(nlohmann::json(context).contains("governor"));
  CHECK_FALSE(nlohmann::json(context).contains("board"));
  context.board = "Raspberry Pi 4 Model B Rev 1.4";
  CHECK(nlohmann::json(context).get<HostContext>() == context);
  HostState state{.load_average_1min = 0.25, .available_memory_bytes = 1 << 30, .cpu_frequency_hz = 2'300'000'000};
  CHECK(nlohmann::json(state).get<HostState>() == state);
  state.cpu_frequency_hz.reset();
  CHECK(nlohmann::json(state).get<HostState>() == state);
  CHECK_FALSE(nlohmann::json(state).contains("cpu_frequency_hz"));
}

TEST_CASE("an ARM board is described by its cores and its device tree", "[host]") {
  FakeMachine machine;
  machine.write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08")
      .write("proc/device-tree/model", std::string("Raspberry Pi 4 Model B Rev 1.4\0", 31))
      .write("usr/lib/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"")
      .write("proc/meminfo", "MemTotal: 8000 kB");
  const auto context = read_host_context(machine.root());
  CHECK(context.cpu_model == "Cortex-A72");
  CHECK(context.board == "Raspberry Pi 4 Model B Rev 1.4");
  CHECK(context.os == "Debian GNU/Linux 12 (bookworm)");
  CHECK(context.memory_bytes == 8000 * 1024);
  CHECK_FALSE(context.governor);
}

TEST_CASE("CPUs are of one kind if architecture and model are the same", "[host]") {
  HostContext pi;
  pi.architecture = "aarch64";
  pi.cpu_model = "Cortex-A72";
  auto other = pi;
  other.board = "Raspberry Pi 4 Model B Rev 1.4";
  CHECK(same_kind_of_cpu(pi, other));
  other.cpu_model = "Cortex-A76";
  CHECK_FALSE(same_kind_of_cpu(pi, other));
  other = pi;
  other.architecture = "armv7l";
  CHECK_FALSE(same_kind_of_cpu(pi, other));
}

TEST_CASE("only processes of one boot and one time namespace share a steady clock", "[host]") {
  const auto here = read_host_context();
  CHECK(share_steady_clock(here, here));
  auto elsewhere = here;
  elsewhere.time_namespace = "time:[1]";
  CHECK_FALSE(share_steady_clock(here, elsewhere));
  elsewhere = here;
  elsewhere.boot_id = "bbc85e29-3425-4d6d-9d3a-21c8b0a6b3de";
  CHECK_FALSE(share_steady_clock(here, elsewhere));
  CHECK_FALSE(share_steady_clock({}, {}));  // unknown
}
