#include <paretopipe/host/proc_text.hpp>

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
        "Raspberry Pi 4 Model B");
  CHECK(parse_cpu_model("processor\t: 0\ncpu\t\t: POWER9\n") == "POWER9");
  CHECK(parse_cpu_model("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n") ==
        "implementer 0x41 part 0xd0b");
}

TEST_CASE("a cpuinfo that names nothing gives no CPU model", "[proc]") {
  CHECK_FALSE(parse_cpu_model(""));
  CHECK_FALSE(parse_cpu_model("CPU implementer\t: 0x41\n"));
  CHECK_FALSE(parse_cpu_model("model name\t:\n"));
}

TEST_CASE("kilobyte fields are read in bytes", "[proc]") {
  const auto* text = "MemTotal:       24684092 kB\nMemFree:  0 kB\nHugePages_Total:       3\n";
  CHECK(parse_kilobyte_field(text, "MemTotal") == 24684092LL * 1024);
  CHECK(parse_kilobyte_field(text, "MemFree") == 0);
}

TEST_CASE("a field without the unit, with a sign, or beyond 64 bits is absent", "[proc]") {
  CHECK_FALSE(parse_kilobyte_field("HugePages_Total:  3\n", "HugePages_Total"));
  CHECK_FALSE(parse_kilobyte_field("VmHWM: 3 MB\n", "VmHWM"));
  CHECK_FALSE(parse_kilobyte_field("VmHWM: kB\n", "VmHWM"));
  CHECK_FALSE(parse_kilobyte_field("VmHWM: -3 kB\n", "VmHWM"));
  CHECK_FALSE(parse_kilobyte_field("VmHWM: 9223372036854775807 kB\n", "VmHWM"));
  CHECK_FALSE(parse_kilobyte_field("VmHWM: 92233720368547758079 kB\n", "VmHWM"));
  CHECK_FALSE(parse_kilobyte_field("", "VmHWM"));
}

TEST_CASE("the load average is the first number", "[proc]") {
  CHECK(parse_load_average("0.52 0.58 0.59 1/257 14130") == 0.52);
  CHECK(parse_load_average("12.00") == 12.0);
  CHECK_FALSE(parse_load_average(""));
  CHECK_FALSE(parse_load_average("x 0.58"));
  CHECK_FALSE(parse_load_average("0.5x 0.58"));
  CHECK_FALSE(parse_load_average("-1 0.58"));
  CHECK_FALSE(parse_load_average("nan 0.58"));
}

TEST_CASE("an integer is the whole text or nothing", "[proc]") {
  CHECK(parse_integer("2300000") == 2300000);
  CHECK(parse_integer("-1") == -1);
  CHECK_FALSE(parse_integer(""));
  CHECK_FALSE(parse_integer("12 "));
  CHECK_FALSE(parse_integer("99999999999999999999"));
}

TEST_CASE("a file that does not exist, or is a folder, has no text", "[proc]") {
  CHECK_FALSE(read_text("/nonexistent/file"));
  CHECK(read_text("/").value_or("").empty());
  CHECK(read_text("/dev/null") == "");
}
