#include <paretopipe/core/error.hpp>
#include <paretopipe/run/applied_network.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace std::chrono_literals;

namespace {

/// Says what it is told to say, and remembers what was applied.
class FakeNetwork final : public shaping::Network {
 public:
  experiment::NetworkEvidence apply(const experiment::NetworkProfile& profile, int) override {
    applied.push_back(profile.name);
    if (broken) throw EnvironmentError("the kernel refuses");
    return found;
  }

  std::vector<std::string> applied;
  experiment::NetworkEvidence found;
  bool broken = false;
};

/// A network, and a clock that only the test turns on.
struct Bench {
  Nanoseconds now = 7h;
  FakeNetwork network;
  run::AppliedNetwork applied{[this] { return now.count(); }};

  /// A trial over that network: how often it was probed until then.
  std::size_t probes_before_trial_over(const std::string& name) {
    experiment::NetworkProfile profile;
    profile.name = name;
    applied.ensure(network, profile, -1);
    return network.applied.size();
  }
};

experiment::LinkProbe probe_that_ended(Nanoseconds before_the_last_ended) {
  experiment::LinkProbe probe;
  probe.before_trial_ns = before_the_last_ended.count();
  return probe;
}

}  // namespace

TEST_CASE("trials over the same network share a probe until it is five minutes old") {
  Bench bench;
  CHECK(bench.probes_before_trial_over("wifi") == 1);
  bench.now += 5min - 1ns;
  CHECK(bench.probes_before_trial_over("wifi") == 1);
  bench.now += 1ns;
  CHECK(bench.probes_before_trial_over("wifi") == 2);
  bench.now += 4min;
  CHECK(bench.probes_before_trial_over("wifi") == 2);
  bench.now += 2min;
  CHECK(bench.probes_before_trial_over("wifi") == 3);
}

TEST_CASE("it is the oldest of several links' probes that must be young") {
  Bench bench;
  bench.network.found.probes = {probe_that_ended(30s), probe_that_ended(0s)};
  CHECK(bench.probes_before_trial_over("wifi") == 1);
  bench.now += 4min + 29s;
  CHECK(bench.probes_before_trial_over("wifi") == 1);
  bench.now += 1s;
  CHECK(bench.probes_before_trial_over("wifi") == 2);
}

TEST_CASE("another network is probed at once, and the first one again when it is back") {
  Bench bench;
  CHECK(bench.probes_before_trial_over("wifi") == 1);
  CHECK(bench.probes_before_trial_over("lte") == 2);
  CHECK(bench.probes_before_trial_over("wifi") == 3);
  bench.applied.forget();
  CHECK(bench.probes_before_trial_over("wifi") == 4);
  CHECK(bench.network.applied == std::vector<std::string>{"wifi", "lte", "wifi", "wifi"});
}

TEST_CASE("a network that deviates is probed before every trial until it does not") {
  Bench bench;
  bench.network.found.deviations = {"too slow"};
  CHECK(bench.probes_before_trial_over("wifi") == 1);
  CHECK(bench.probes_before_trial_over("wifi") == 2);
  bench.network.found.deviations.clear();
  CHECK(bench.probes_before_trial_over("wifi") == 3);
  CHECK(bench.probes_before_trial_over("wifi") == 3);
}

TEST_CASE("a network that could not be applied again is not taken for applied") {
  Bench bench;
  CHECK(bench.probes_before_trial_over("wifi") == 1);
  bench.now += 6min;
  bench.network.broken = true;
  CHECK_THROWS_AS(bench.probes_before_trial_over("wifi"), EnvironmentError);
  bench.network.broken = false;
  CHECK(bench.probes_before_trial_over("wifi") == 3);
}

TEST_CASE("a record says how long before its trial each link was probed") {
  Bench bench;
  bench.network.found.probes = {probe_that_ended(3s), probe_that_ended(1s)};
  bench.probes_before_trial_over("wifi");
  bench.now += 20s;
  const auto first = bench.applied.evidence().probes;
  CHECK(first == std::vector{probe_that_ended(23s), probe_that_ended(21s)});
  bench.now += 1min;
  CHECK(bench.applied.evidence().probes == std::vector{probe_that_ended(83s), probe_that_ended(81s)});
}
