#include <paretopipe/host/health.hpp>

#include <algorithm>
#include <functional>
#include <string>

#include <support/catch.hpp>

using namespace paretopipe::host;

namespace {

/// A machine that one would choose to measure on.
Observations good_machine() {
  Observations seen;
  seen.stage_program = "/usr/bin/paretopipe-stage";
  seen.blas = Blas{.kind = Blas::Kind::optimised, .library = "/usr/lib/libopenblas.so.0"};
  seen.fashion_mnist = true;
  seen.cores = {{0}, {1}, {2}, {3}};
  seen.governor = "performance";
  seen.turbo = false;
  seen.steal = 0.0;
  seen.load_average_1min = 0.1;
  seen.clocksource = "tsc";
  seen.clock_read_ns = 20;
  seen.available_memory_bytes = std::int64_t{8} << 30;
  seen.huge_pages = "madvise";
  return seen;
}

/// The finding of that name once the good machine is changed; one without a name where there is none.
Finding find(const std::string& name, const std::function<void(Observations&)>& change) {
  auto seen = good_machine();
  change(seen);
  for (const auto& finding : judge(seen)) {
    if (finding.name == name) return finding;
  }
  return {};
}

Level level_of(const std::string& name, const std::function<void(Observations&)>& change) {
  const auto finding = find(name, change);
  REQUIRE(finding.name == name);
  return finding.level;
}

}  // namespace

TEST_CASE("a good machine has findings, all of them ok, with nothing to mend", "[health]") {
  const auto findings = judge(good_machine());
  CHECK(findings.size() == 14);
  for (const auto& finding : findings) {
    CAPTURE(finding.name, finding.observed);
    CHECK(finding.level == Level::ok);
    CHECK_FALSE(finding.observed.empty());
    CHECK_FALSE(finding.why.empty());
    CHECK(finding.remedy.empty());
  }
  CHECK(worst(findings) == Level::ok);
  CHECK(worst({}) == Level::ok);
}

TEST_CASE("whatever is wrong comes with what to do about it", "[health]") {
  Observations seen;  // nothing is there, nothing is known
  seen.stage_program_error = "the stage program is not at /x";
  seen.blas = Blas{.kind = Blas::Kind::reference, .library = "/usr/lib/libblas.so.3"};
  seen.missing_programs = {"ip", "tc"};
  seen.cores = {{0, 1}};
  seen.cpu_quota = 0.5;
  seen.governor = "ondemand";
  seen.turbo = true;
  seen.virtual_machine = true;
  seen.load_average_1min = 8;
  seen.clock_read_ns = 2'000;
  seen.swap_used_bytes = std::int64_t{1} << 30;
  seen.huge_pages = "never";
  const auto findings = judge(seen);
  CHECK(worst(findings) == Level::problem);
  int bad = 0;
  for (const auto& finding : findings) {
    CAPTURE(finding.name);
    CHECK(finding.remedy.empty() == (finding.level == Level::ok));
    if (finding.level != Level::ok) ++bad;
  }
  CHECK(bad == 14);
}

TEST_CASE("a machine without a stage program, or with one that cannot load, measures nothing", "[health]") {
  const auto missing = find("stage program", [](Observations& seen) {
    seen.stage_program.reset();
    seen.stage_program_error = "the stage program is not at /x";
  });
  CHECK(missing.level == Level::problem);
  CHECK(missing.observed == "the stage program is not at /x");
  const auto broken = find("stage program", [](Observations& seen) {
    seen.missing_libraries = {"libtorch.so", "libc10.so"};
  });
  CHECK(broken.level == Level::problem);
  CHECK(broken.observed == "/usr/bin/paretopipe-stage does not find libtorch.so, libc10.so");
}

TEST_CASE("reference BLAS is a problem, an optimised or bundled one is not, an unknown one is not judged", "[health]") {
  const auto with = [](Blas::Kind kind) {
    return level_of("BLAS", [&](Observations& seen) { seen.blas = Blas{.kind = kind, .library = "/x"}; });
  };
  CHECK(with(Blas::Kind::reference) == Level::problem);
  CHECK(with(Blas::Kind::optimised) == Level::ok);
  CHECK(with(Blas::Kind::bundled) == Level::ok);
  CHECK(find("BLAS", [](Observations& seen) { seen.blas.reset(); }).name.empty());
}

TEST_CASE("missing data and missing network tools do not prevent a measurement", "[health]") {
  CHECK(level_of("data set", [](Observations& seen) { seen.fashion_mnist = false; }) == Level::warning);
  const auto tools = find("network tools", [](Observations& seen) { seen.missing_programs = {"tc"}; });
  CHECK(tools.level == Level::note);
  CHECK(tools.observed == "missing: tc");
}

TEST_CASE("two stages want two cores, and threads of one core are no cores", "[health]") {
  const auto with = [](std::vector<CpuSet> cores) {
    return level_of("cores", [&](Observations& seen) { seen.cores = std::move(cores); });
  };
  CHECK(with({{0}}) == Level::warning);
  CHECK(with({{0, 1}}) == Level::warning);
  CHECK(with({{0}, {1}}) == Level::ok);
}

TEST_CASE("stages that would share cores are told which CPUs to take", "[health]") {
  const auto with = [](std::vector<CpuSet> cores) {
    return find("sibling threads", [&](Observations& seen) { seen.cores = std::move(cores); });
  };
  // Second threads numbered after all first ones: 0-1 and 2-3 are the same cores.
  const auto interleaved = with({{0, 2}, {1, 3}});
  CHECK(interleaved.level == Level::warning);
  CHECK(interleaved.remedy == "give each stage whole cores: --cpus 0,2 --cpus 1,3");
  CHECK(with({{0, 3}, {1, 4}, {2, 5}}).remedy == "give each stage whole cores: --cpus 0,3 --cpus 1-2,4-5");
  // Threads of a core next to each other: a stage gets whole cores anyway.
  CHECK(with({{0, 1}, {2, 3}}).level == Level::ok);
  // An odd number of such cores cannot be halved in order.
  CHECK(with({{0, 1}, {2, 3}, {4, 5}}).level == Level::warning);
  // With one core there is nothing to choose.
  CHECK(with({{0, 1}}).level == Level::ok);
  CHECK(with({{0}, {1}}).level == Level::ok);
}

TEST_CASE("a CPU quota below the CPUs is a warning", "[health]") {
  const auto with = [](double quota) {
    return level_of("CPU quota", [&](Observations& seen) { seen.cpu_quota = quota; });
  };
  CHECK(with(3.99) == Level::warning);
  CHECK(with(4.0) == Level::ok);
}

TEST_CASE("only the performance governor holds the clock, and turbo does not", "[health]") {
  const auto with = [](const char* governor) {
    return level_of("frequency governor", [&](Observations& seen) { seen.governor = governor; });
  };
  CHECK(with("performance") == Level::ok);
  CHECK(with("powersave") == Level::warning);
  CHECK(with("schedutil") == Level::warning);
  CHECK(level_of("turbo", [](Observations& seen) { seen.turbo = true; }) == Level::note);
  CHECK(find("frequency governor", [](Observations& seen) { seen.governor.reset(); }).name.empty());
  CHECK(find("turbo", [](Observations& seen) { seen.turbo.reset(); }).name.empty());
}

TEST_CASE("a virtual machine is a note, and a warning once its time is stolen", "[health]") {
  const auto with = [](bool virtual_machine, std::optional<double> steal) {
    return level_of("virtual machine", [&](Observations& seen) {
      seen.virtual_machine = virtual_machine;
      seen.steal = steal;
    });
  };
  CHECK(with(false, std::nullopt) == Level::ok);
  CHECK(with(true, std::nullopt) == Level::note);
  CHECK(with(true, 0.01) == Level::note);
  CHECK(with(true, 0.011) == Level::warning);
}

TEST_CASE("load matters once fewer than two cores are idle", "[health]") {
  const auto with = [](double load) {
    return level_of("load", [&](Observations& seen) { seen.load_average_1min = load; });
  };
  CHECK(with(0.5) == Level::ok);
  CHECK(with(0.6) == Level::note);
  CHECK(with(2.0) == Level::note);
  CHECK(with(2.1) == Level::warning);
}

TEST_CASE("a clock that takes a microsecond to read is too slow", "[health]") {
  const auto with = [](std::int64_t cost) {
    return level_of("clock", [&](Observations& seen) { seen.clock_read_ns = cost; });
  };
  CHECK(with(999) == Level::ok);
  CHECK(with(1'000) == Level::warning);
}

TEST_CASE("little memory is a warning, pages in swap and no huge pages are notes", "[health]") {
  CHECK(level_of("memory", [](Observations& seen) { seen.available_memory_bytes = std::int64_t{1} << 30; }) ==
        Level::warning);
  CHECK(level_of("swap", [](Observations& seen) { seen.swap_used_bytes = 65 << 20; }) == Level::note);
  CHECK(level_of("swap", [](Observations& seen) { seen.swap_used_bytes = 64 << 20; }) == Level::ok);
  CHECK(level_of("huge pages", [](Observations& seen) { seen.huge_pages = "never"; }) == Level::note);
  CHECK(level_of("huge pages", [](Observations& seen) { seen.huge_pages = "always"; }) == Level::ok);
}

TEST_CASE("a finding's JSON names its level", "[health]") {
  const Finding finding{.name = "load", .level = Level::warning, .observed = "8", .why = "because", .remedy = "wait"};
  CHECK(nlohmann::json(finding).dump() ==
        R"({"level":"warning","mend":"wait","name":"load","observed":"8","why":"because"})");
  CHECK(to_string(Level::ok) == "ok");
  CHECK(to_string(Level::note) == "note");
  CHECK(to_string(Level::problem) == "problem");
}
