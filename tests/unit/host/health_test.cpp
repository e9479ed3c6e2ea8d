#include <paretopipe/host/health.hpp>

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

TEST_CASE("every finding has the level of what was seen, and none is of what is unknown", "[health]") {
  constexpr auto kNothing = std::nullopt;
  const auto with_cores = [](std::vector<CpuSet> cores) { return [cores](Observations& seen) { seen.cores = cores; }; };
  const auto virtual_with = [](std::optional<double> steal) {
    return [steal](Observations& seen) {
      seen.virtual_machine = true;
      seen.steal = steal;
    };
  };
  struct Case {
    const char* name;
    std::function<void(Observations&)> change;
    std::optional<Level> level;  ///< none: nothing is said
  };
  for (const auto& [name, change, level] : std::vector<Case>{
           {"BLAS", [](auto& seen) { seen.blas = Blas{.kind = Blas::Kind::reference, .library = "/x"}; },
            Level::problem},
           {"BLAS", [](auto& seen) { seen.blas = Blas{.kind = Blas::Kind::optimised, .library = "/x"}; }, Level::ok},
           {"BLAS", [](auto& seen) { seen.blas = Blas{.kind = Blas::Kind::bundled, .library = "/x"}; }, Level::ok},
           {"BLAS", [](auto& seen) { seen.blas.reset(); }, kNothing},
           {"data set", [](auto& seen) { seen.fashion_mnist = false; }, Level::warning},
           {"network tools", [](auto& seen) { seen.missing_programs = {"tc"}; }, Level::note},
           {"cores", with_cores({{0}}), Level::warning},
           {"cores", with_cores({{0, 1}}), Level::warning},  // threads of one core are no cores
           {"cores", with_cores({{0}, {1}}), Level::ok},
           {"CPU quota", [](auto& seen) { seen.cpu_quota = 3.99; }, Level::warning},
           {"CPU quota", [](auto& seen) { seen.cpu_quota = 4.0; }, Level::ok},
           {"frequency governor", [](auto& seen) { seen.governor = "performance"; }, Level::ok},
           {"frequency governor", [](auto& seen) { seen.governor = "powersave"; }, Level::warning},
           {"frequency governor", [](auto& seen) { seen.governor = "schedutil"; }, Level::warning},
           {"frequency governor", [](auto& seen) { seen.governor.reset(); }, kNothing},
           {"turbo", [](auto& seen) { seen.turbo = true; }, Level::note},
           {"turbo", [](auto& seen) { seen.turbo.reset(); }, kNothing},
           {"virtual machine", [](auto& seen) { seen.steal.reset(); }, Level::ok},
           {"virtual machine", virtual_with(std::nullopt), Level::note},
           {"virtual machine", virtual_with(0.01), Level::note},
           {"virtual machine", virtual_with(0.011), Level::warning},
           {"load", [](auto& seen) { seen.load_average_1min = 0.5; }, Level::ok},
           {"load", [](auto& seen) { seen.load_average_1min = 0.6; }, Level::note},
           {"load", [](auto& seen) { seen.load_average_1min = 2.0; }, Level::note},
           {"load", [](auto& seen) { seen.load_average_1min = 2.1; }, Level::warning},
           {"clock", [](auto& seen) { seen.clock_read_ns = 999; }, Level::ok},
           {"clock", [](auto& seen) { seen.clock_read_ns = 1'000; }, Level::warning},
           {"memory", [](auto& seen) { seen.available_memory_bytes = 1 << 30; }, Level::warning},
           {"swap", [](auto& seen) { seen.swap_used_bytes = 65 << 20; }, Level::note},
           {"swap", [](auto& seen) { seen.swap_used_bytes = 64 << 20; }, Level::ok},
           {"huge pages", [](auto& seen) { seen.huge_pages = "never"; }, Level::note},
           {"huge pages", [](auto& seen) { seen.huge_pages = "always"; }, Level::ok}}) {
    const auto finding = find(name, change);
    CAPTURE(name, finding.observed);
    CHECK(finding.name.empty() == !level.has_value());
    if (level) CHECK(finding.level == *level);
  }
  CHECK(find("network tools", [](auto& seen) { seen.missing_programs = {"tc"}; }).observed == "missing: tc");
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

TEST_CASE("a finding's JSON names its level", "[health]") {
  const Finding finding{.name = "load", .level = Level::warning, .observed = "8", .why = "because", .remedy = "wait"};
  CHECK(nlohmann::json(finding).dump() ==
        R"({"level":"warning","mend":"wait","name":"load","observed":"8","why":"because"})");
  CHECK(to_string(Level::ok) == "ok");
  CHECK(to_string(Level::note) == "note");
  CHECK(to_string(Level::problem) == "problem");
}
