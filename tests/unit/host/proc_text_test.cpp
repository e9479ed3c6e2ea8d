#include <paretopipe/host/proc_text.hpp>

#include <string>
#include <utility>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe::host;

TEST_CASE("a field is found by its whole key, trimmed of blanks", "[proc]") {
  const auto* text = "model\t\t: 207\nmodel name\t: Intel(R) Xeon(R): Processor \n\nempty:\nlast: no newline";
  CHECK(find_field(text, "model") == "207");
  CHECK(find_field(text, "model name") == "Intel(R) Xeon(R): Processor");
  CHECK(find_field(text, "empty") == "");
  CHECK(find_field(text, "last") == "no newline");
  CHECK_FALSE(find_field(text, "name"));
  CHECK_FALSE(find_field("", "model"));
  CHECK_FALSE(find_field("\n\n", "model"));
}

TEST_CASE("the operating system is named by os-release, with or without quotes", "[proc]") {
  CHECK(parse_os_name("NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n") ==
        "Debian GNU/Linux 12 (bookworm)");
  CHECK(parse_os_name("PRETTY_NAME='Alpine'\n") == "Alpine");
  CHECK(parse_os_name("NAME=Fedora\n") == "Fedora");
  CHECK(parse_os_name("PRETTY_NAME=\"\n") == "\"");
  CHECK_FALSE(parse_os_name("ID=debian\n"));
  CHECK_FALSE(parse_os_name(""));
}

TEST_CASE("the CPU is named on x86, on a Raspberry Pi, on POWER and on bare ARM", "[proc]") {
  CHECK(parse_cpu_model("processor\t: 0\nmodel\t\t: 207\nmodel name\t: AMD EPYC 7763\n") == "AMD EPYC 7763");
  CHECK(parse_cpu_model(
            "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\nModel\t\t: Raspberry Pi 4 Model B\n") ==
        "Cortex-A72");
  CHECK(parse_cpu_model("processor\t: 0\ncpu\t\t: POWER9\n") == "POWER9");
  CHECK(parse_cpu_model("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n") == "Cortex-A76");
  CHECK(parse_cpu_model("CPU implementer\t: 0x41\nCPU part\t: 0xfff\n") == "implementer 0x41 part 0xfff");
  const std::string little = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n";
  const std::string big = "processor\t: 4\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\n";
  CHECK(parse_cpu_model(little + little + big + big) == "Cortex-A53 + Cortex-A72");
  CHECK(parse_cpu_model(little + "Hardware\t: BCM2835\nModel\t\t: Raspberry Pi 3\n") == "Cortex-A53");
  for (const auto& [part, name] : std::vector<std::pair<std::string, std::string>>{
           {"0xd07", "Cortex-A57"}, {"0xd41", "Cortex-A78"}, {"0xd0c", "Neoverse-N1"}, {"0xd40", "Neoverse-V1"}}) {
    CHECK(parse_cpu_model("CPU implementer\t: 0x41\nCPU part\t: " + part) == name);
  }
  for (const auto* text : {"", "CPU implementer\t: 0x41\n", "model name\t:\n"}) CHECK_FALSE(parse_cpu_model(text));
}

TEST_CASE("numbers are read whole and in their unit, or not at all", "[proc]") {
  CHECK(parse_load_average("0.52 0.58 0.59 1/257 14130") == 0.52);
  CHECK(parse_load_average("12.00") == 12.0);
  for (const auto* text : {"", "x 0.58", "0.5x 0.58", "-1 0.58", "nan 0.58"}) CHECK_FALSE(parse_load_average(text));
  const auto* memory = "MemTotal:       24684092 kB\nMemFree:  0 kB\nHugePages_Total:       3\n";
  CHECK(parse_kilobyte_field(memory, "MemTotal") == 24684092LL * 1024);
  CHECK(parse_kilobyte_field(memory, "MemFree") == 0);
  CHECK_FALSE(parse_kilobyte_field(memory, "HugePages_Total"));
  for (const auto* text : {"VmHWM: 3 MB\n", "VmHWM: kB\n", "VmHWM: -3 kB\n", "VmHWM: 9223372036854775807 kB\n",
                           "VmHWM: 92233720368547758079 kB\n", ""}) {
    CHECK_FALSE(parse_kilobyte_field(text, "VmHWM"));
  }
}

TEST_CASE("a file that does not exist, or is a folder, has no text", "[proc]") {
  CHECK_FALSE(read_text("/nonexistent/file"));
  CHECK(read_text("/").value_or("").empty());
  CHECK(read_text("/dev/null") == "");
}
