#include <paretopipe/host/observe.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

#include <support/catch.hpp>

#include "fake_machine.hpp"

using namespace paretopipe::host;
using Paths = std::vector<std::filesystem::path>;

TEST_CASE("an empty machine is observed without complaint, and nothing is made up", "[observe]") {
  const FakeMachine machine;
  const auto seen = machine.observe();
  CHECK_FALSE(seen.stage_program);
  CHECK_FALSE(seen.blas);
  CHECK_FALSE(seen.fashion_mnist);
  CHECK(seen.missing_programs == std::vector<std::string>{"ip", "tc"});
  CHECK_FALSE(seen.cpu_quota);
  CHECK_FALSE(seen.governor);
  CHECK_FALSE(seen.turbo);
  CHECK_FALSE(seen.virtual_machine);
  CHECK_FALSE(seen.steal);
  CHECK_FALSE(seen.huge_pages);
  CHECK(seen.cores.size() == current_affinity().size());
  CHECK(seen.clock_read_ns > 0);
}

TEST_CASE("a laptop shows its governor, turbo, swap, huge pages and tools", "[observe]") {
  FakeMachine machine;
  machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
      .write("sys/devices/system/cpu/intel_pstate/no_turbo", "0")
      .write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet")
      .write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]")
      .write("proc/meminfo", "MemTotal: 8000 kB\nMemAvailable: 4000 kB\nSwapTotal: 1000 kB\nSwapFree: 300 kB")
      .write("proc/loadavg", "1.25 0.58 0.59 1/257 14130")
      .write("proc/stat", "cpu  10000 0 5000 90000 100 0 0 5000 0 0")
      .write("proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm")
      .write("usr/sbin/tc", "")
      .write("usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz", "");
  const auto seen = machine.observe();
  CHECK(seen.governor == "powersave");
  CHECK(seen.turbo == true);
  CHECK(seen.clocksource == "hpet");
  CHECK(seen.huge_pages == "never");
  CHECK(seen.available_memory_bytes == 4000 * 1024);
  CHECK(seen.swap_used_bytes == 700 * 1024);
  CHECK(seen.load_average_1min == 1.25);
  CHECK(seen.steal == 0.25);
  CHECK(seen.virtual_machine);
  CHECK(seen.fashion_mnist);
  CHECK(seen.missing_programs == std::vector<std::string>{"ip"});
  FakeMachine other;  // with AMD's or ARM's driver
  CHECK(other.write("sys/devices/system/cpu/cpufreq/boost", "0").observe().turbo == false);
  CHECK(other.write("sys/devices/system/cpu/cpufreq/boost", "1").observe().turbo == true);
}

TEST_CASE("a governor that lets some clocks change is named with its CPUs", "[observe]") {
  const auto cpus = current_affinity();
  FakeMachine machine;
  const auto file = [](int cpu) {
    return "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor";
  };
  for (const int cpu : cpus) machine.write(file(cpu), "performance");
  CHECK(machine.observe().governor == "performance");
  machine.write(file(cpus.back()), "powersave");
  const auto where = cpus.size() == 1 ? "" : " on CPUs " + std::to_string(cpus.back());
  CHECK(machine.observe().governor == "powersave" + where);
}

TEST_CASE("a virtual machine is known by its firmware or its device tree where there is no flag for it", "[observe]") {
  struct Case {
    const char* file;
    const char* text;
    bool virtual_machine;
  };
  for (const auto& [file, text, virtual_machine] :
       std::vector<Case>{{"sys/class/dmi/id/sys_vendor", "QEMU", true},
                         {"sys/class/dmi/id/sys_vendor", "Amazon EC2", true},
                         {"sys/class/dmi/id/sys_vendor", "innotek GmbH", true},
                         {"sys/class/dmi/id/sys_vendor", "Dell Inc.", false},
                         {"sys/class/dmi/id/sys_vendor", "Microsoft Corporation", false},  // a Surface
                         {"sys/class/dmi/id/product_name", "KVM Virtual Machine", true},
                         {"sys/class/dmi/id/product_name", "VMware20,1", true},
                         {"sys/class/dmi/id/product_name", "Google Compute Engine", true},
                         {"sys/class/dmi/id/product_name", "ThinkSystem HR330A", false},
                         {"sys/class/dmi/id/bios_vendor", "BHYVE", true},
                         {"sys/hypervisor/type", "xen", true},
                         {"proc/device-tree/hypervisor/compatible", "linux,kvm", true},
                         {"proc/device-tree/fw-cfg@9020000/compatible", "qemu,fw-cfg-mmio", true},
                         {"proc/device-tree/model", "linux,dummy-virt", true},
                         {"proc/device-tree/compatible", "qemu,pseries", true},
                         {"proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0", false},
                         {"proc/cpuinfo", "Features : fp asimd", false}}) {
    CAPTURE(file, text);
    FakeMachine machine;
    CHECK(machine.write(file, text).observe().virtual_machine == virtual_machine);
  }
  FakeMachine azure, metal;
  azure.write("sys/class/dmi/id/sys_vendor", "Microsoft Corporation")
      .write("sys/class/dmi/id/product_name", "Virtual Machine");
  CHECK(azure.observe().virtual_machine);
  metal.write("sys/class/dmi/id/sys_vendor", "Amazon EC2").write("sys/class/dmi/id/product_name", "c7g.metal");
  CHECK_FALSE(metal.observe().virtual_machine);
}

TEST_CASE("the tightest quota of all groups around the process counts, version 2", "[observe]") {
  FakeMachine machine;
  machine.write("proc/self/cgroup", "0::/system.slice/docker-1.scope")
      .write("sys/fs/cgroup/system.slice/docker-1.scope/cpu.max", "400000 100000")
      .write("sys/fs/cgroup/system.slice/cpu.max", "150000 100000");
  CHECK(machine.observe().cpu_quota == 1.5);
  machine.write("sys/fs/cgroup/cpu.max", "max 100000").write("sys/fs/cgroup/system.slice/cpu.max", "max 100000");
  CHECK(machine.observe().cpu_quota == 4.0);
  machine.write("proc/self/cgroup", "0::/").write("sys/fs/cgroup/cpu.max", "50000 100000");
  CHECK(machine.observe().cpu_quota == 0.5);  // in a container, whose own group is the mount
}

TEST_CASE("the quota of version 1 is that of the cpu controller, and -1 is none", "[observe]") {
  FakeMachine machine;
  machine.write("proc/self/cgroup", "9:cpuset:/x\n4:cpu,cpuacct:/user\n0::/")
      .write("sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "1")
      .write("sys/fs/cgroup/cpuset/x/cpu.cfs_period_us", "100000")
      .write("sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_quota_us", "300000")
      .write("sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_period_us", "100000");
  CHECK(machine.observe().cpu_quota == 3.0);
  machine.write("sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_quota_us", "-1");
  CHECK_FALSE(machine.observe().cpu_quota);
}

TEST_CASE("a process may use what is available, or what the tightest of its groups leaves it", "[observe]") {
  FakeMachine machine;
  CHECK(machine.usable_memory_bytes() == 0);
  machine.write("proc/meminfo", "MemTotal: 8000 kB\nMemAvailable: 4000 kB");
  CHECK(machine.usable_memory_bytes() == 4000 * 1024);
  machine.write("proc/self/cgroup", "0::/user/paretopipe-7-device1")
      .write("sys/fs/cgroup/user/paretopipe-7-device1/memory.max", "max")
      .write("sys/fs/cgroup/user/memory.max", "9000000");
  CHECK(machine.usable_memory_bytes() == 4000 * 1024);
  machine.write("sys/fs/cgroup/user/paretopipe-7-device1/memory.max", "2000000");
  CHECK(machine.usable_memory_bytes() == 2'000'000);
  machine.write("sys/fs/cgroup/user/memory.max", "1500000");
  CHECK(machine.usable_memory_bytes() == 1'500'000);
  CHECK(machine.observe().available_memory_bytes == 1'500'000);
}

TEST_CASE("the memory limit of version 1 is that of the memory controller, and near infinity it is none", "[observe]") {
  FakeMachine machine;
  machine.write("proc/meminfo", "MemAvailable: 4000 kB")
      .write("proc/self/cgroup", "9:cpu:/x\n4:memory:/x\n0::/")
      .write("sys/fs/cgroup/cpu/x/memory.limit_in_bytes", "1")
      .write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712");
  CHECK(machine.usable_memory_bytes() == 4000 * 1024);
  machine.write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1000000");
  CHECK(machine.usable_memory_bytes() == 1'000'000);
}

TEST_CASE("threads of one core are grouped, as far as this process may use them", "[observe]") {
  const auto cpus = current_affinity();
  FakeMachine machine;
  for (const int cpu : cpus) {
    const auto topology = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list";
    machine.write(topology, to_string(cpus) + ",8000-8191");
  }
  CHECK(machine.observe().cores == std::vector<CpuSet>{cpus});
}

TEST_CASE("this machine can be observed and judged", "[observe]") {
  const auto seen = observe("/proc/self/exe");
  CHECK(seen.stage_program == "/proc/self/exe");
  CHECK(seen.available_memory_bytes > 0);
  CHECK(judge(seen).size() >= 9);
}

TEST_CASE("a CPU limit is a share, or none", "[observe]") {
  CHECK(parse_cpu_max("150000 100000") == 1.5);
  for (const auto* text : {"max 100000", "", "100000", "0 100000", "100000 0", "-1 100000", "x y", "1 2 3"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_cpu_max(text));
  }
}

TEST_CASE("steal is the share of what was wanted, idle time apart", "[observe]") {
  CHECK(parse_steal("cpu  500 0 250 99999 88888 125 125 1000 0 0\ncpu0 1 2 3") == 0.5);
  CHECK(parse_steal("cpu  500 500 0 0 0 0 0 0 0 0") == 0.0);
  CHECK_FALSE(parse_steal("cpu  400 0 0 99999 0 0 0 599 0 0"));  // less than ten seconds
  CHECK_FALSE(parse_steal("cpu  1000 0 0 0"));                   // a kernel that does not count it
  CHECK_FALSE(parse_steal("cpu0 1000 0 0 0 0 0 0 1000"));
  CHECK_FALSE(parse_steal(""));
}

TEST_CASE("the chosen mode is the one in brackets", "[observe]") {
  CHECK(parse_chosen("always [madvise] never") == "madvise");
  for (const auto* text : {"", "always madvise", "[", "]", "[]", "][", "never]["}) {
    CAPTURE(text);
    CHECK_FALSE(parse_chosen(text));
  }
}

TEST_CASE("the loader's list is read line by line: found, missing, and neither", "[libraries]") {
  const auto libraries = parse_loaded_libraries(
      "\tlinux-vdso.so.1 (0x00007ffd3b5f2000)\n"
      "\tlibtorch.so => /opt/my torch/lib/libtorch.so (0x00007f0000000000)\n"
      "\tlibgone.so.3 => not found\n"
      "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1111111111)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2222222222)\n");
  CHECK(libraries.found == Paths{"/opt/my torch/lib/libtorch.so", "/lib/x86_64-linux-gnu/libc.so.6"});
  CHECK(libraries.missing == std::vector<std::string>{"libgone.so.3"});
}

TEST_CASE("what is no list of libraries gives none", "[libraries]") {
  for (const auto* text : {"", "\n\n", "usage: stage serve | describe\n", " => ", " => \n", "\tx => y"}) {
    const auto libraries = parse_loaded_libraries(text);
    CAPTURE(text);
    CHECK(libraries.found.empty());
    CHECK(libraries.missing.empty());
  }
}

TEST_CASE("this test's own libraries can be asked for, and what does not exist or is no program has none",
          "[libraries][native]") {
  const auto libraries = read_loaded_libraries("/proc/self/exe");
  REQUIRE(libraries);
  CHECK(libraries->missing.empty());
  const auto is_libc = [](const auto& path) { return path.filename().string().rfind("libc", 0) == 0; };
  CHECK(std::any_of(libraries->found.begin(), libraries->found.end(), is_libc));
  CHECK_FALSE(find_blas(libraries->found));
  for (const auto* none : {"/nonexistent/stage", "/etc/passwd"}) CHECK_FALSE(read_loaded_libraries(none));
}

TEST_CASE("an optimised BLAS is known by its name or by where libblas really lies", "[libraries]") {
  const auto kind_of = [](Paths libraries) {
    libraries.insert(libraries.begin(), "/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13.1");
    return find_blas(libraries).value().kind;
  };
  CHECK(kind_of({"/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"}) == Blas::Kind::optimised);
  CHECK(kind_of({"/usr/lib/libblas.so.3", "/usr/lib/libopenblas.so.0"}) == Blas::Kind::optimised);
  CHECK(kind_of({"/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.3"}) == Blas::Kind::optimised);
  CHECK(kind_of({"/usr/lib/x86_64-linux-gnu/libmkl_rt.so"}) == Blas::Kind::optimised);
  CHECK(kind_of({"/usr/lib/x86_64-linux-gnu/atlas/libblas.so.3.10.3"}) == Blas::Kind::optimised);
}

TEST_CASE("a libblas that is nothing better is the reference BLAS, a LibTorch that loads none has its own",
          "[libraries]") {
  const auto blas = find_blas({"/usr/lib/libtorch.so", "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0"}).value();
  CHECK(blas.kind == Blas::Kind::reference);
  CHECK(blas.library == "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0");
  CHECK(find_blas({"/opt/libtorch/lib/libtorch_cpu.so", "/lib/libm.so.6"}).value().kind == Blas::Kind::bundled);
  CHECK(find_blas({"/home/atlas/lib/libtorch_cpu.so", "/lib/libm.so.6"}).value().kind == Blas::Kind::bundled);
  CHECK_FALSE(find_blas({"/lib/libblas.so.3", "/lib/libm.so.6"}));
  CHECK_FALSE(find_blas({}));
}
