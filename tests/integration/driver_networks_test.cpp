// Sweeps over networks, as from a shell. What depends on the kernel is in shaping/; a relay works everywhere.
#include <csignal>
#include <thread>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace std::chrono_literals;

namespace {

const Words kOverSlow = kSweep + "--network ./slow.json --shaping emulated";
const Words kOverNetworks = kOverSlow + "--network unshaped";

/// False if the running sweep has not written so many within half a minute.
bool wait_for_records(const Shell& shell, std::size_t count) {
  const auto deadline = Clock::now() + 30s;
  while (!std::filesystem::exists(shell.records_file()) || shell.records().size() < count) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

}  // namespace

TEST_CASE(
    "every split is measured under every network, also one after the other; each record says what the network really "
    "did, and the frontier is one per network and says how it moves") {
  const Shell shell;
  shell.write("slow.json", R"({"both": {"delay": "2 ms", "rate": "100 Mbit/s"}})");
  check_contains(shell.run(0, kOverNetworks + "--dry-run").output, {"16 trials would be run", "over slow (emulated)"});
  REQUIRE(shell.run(kOverSlow).exit_code <= 1);
  CHECK(shell.records().size() == kTrials);
  REQUIRE(shell.run(kOverNetworks + "--resume").exit_code <= 1);
  const auto records = shell.records();
  REQUIRE(records.size() == 2 * kTrials);
  std::set<std::string> names;
  for (const auto& record : records) {
    INFO(record.trial.label());
    names.insert(record.trial.network.name);
    CHECK(record.trial.shaping == experiment::Shaping::emulated);
    REQUIRE(record.network.has_value());
    CHECK(record.network->read_back == record.trial.network);
    CHECK(record.network->round_trip_ns.value() > 0);
    const bool slow = record.trial.network.name == "slow";
    if (slow) CHECK(*record.network->round_trip_ns >= 4'000'000);
    // 2 ms each way: no batch that crosses the link and comes back can be faster.
    if (slow && !record.trial.all_local() && record.summary) CHECK(record.summary->latency->min_ns >= 4e6);
    // Timing may spoil a trial on a busy machine; it must then say so, and not look like a measurement.
    CHECK((record.status == record::Status::ok) == record.network->deviations.empty());
  }
  CHECK(names == std::set<std::string>{"slow", "unshaped"});

  const auto frontier = shell.run(0, "frontier out").output;
  check_contains(frontier,
                 {"over unshaped (emulated", "over slow (emulated: 2.00 ms, 100 Mbit/s)", "How the frontier moves"});
  CHECK((contains(frontier, "Whatever the network (unshaped, slow): ") ||
         contains(frontier, "Whatever the network (slow, unshaped): ")));
}

TEST_CASE("a sweep that is ended while it probes a very slow network ends within moments and keeps its records") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const Shell shell;
  // Two transfers of fifty frames each: the probe takes more than two minutes.
  shell.write("slow.json", R"({"both": {"delay": "1 s", "rate": "10 kbit/s"}})");
  const auto before_the_slow_one = kTrials / 2;
  // A seed whose order begins with the other network.
  auto sweep = shell.start(kSweep + "--network unshaped --network ./slow.json --shaping emulated --seed 2");
  REQUIRE(wait_for_records(shell, 1));
  const auto while_it_measures = support::sockets_of(sweep.pid());
  REQUIRE(wait_for_records(shell, before_the_slow_one));
  REQUIRE(support::wait_for_more_sockets(sweep.pid(), while_it_measures, 2));  // both ends of the probe's connection
  const auto stages = support::watch(support::children_of(sweep.pid()));
  CHECK(stages.size() == 2);
  const auto asked = Clock::now();
  ::kill(sweep.pid(), signal);
  const auto outcome = sweep.wait();
  CHECK(Clock::now() - asked < 30s);  // moments, however busy the machine; not the probe's minutes
  INFO(outcome.errors);
  CHECK(outcome.exit_code == 130);
  CHECK(contains(outcome.errors, "--resume continues"));
  CHECK(support::all_ended(stages));
  CHECK(shell.records().size() == before_the_slow_one);
  for (const auto& record : shell.records()) CHECK(record.trial.network.name == "unshaped");
}

TEST_CASE("a network that cannot be had is a sentence, and nothing is made") {
  const Shell shell;
  shell.write("nonsense.json", R"({"both": {"loss": 2}})");
  shell.write("slow.json", R"({"both": {"delay": "3 ms"}})");
  check_refused(shell, kSweep + "--network",
                {{"wify", "did you mean \"wifi\"?"},
                 {"./slow.json --network ././slow.json", "././slow.json was named before"},
                 {"no/such.json", "no/such.json"},
                 {"./nonsense.json", "loss"},
                 {"wifi --shaping none", "wifi"},
                 {"lossy --shaping emulated", "lossy: An emulated link cannot lose packets"},
                 {"wifi --shaping magic", "magic"}});
}

TEST_CASE("a network between devices that cannot be had is a sentence that says what can") {
  const Shell shell;
  check_refused(shell, kSweep + "--on local --on ssh:nowhere.invalid --network",
                {{"wifi --shaping none", "wifi"},
                 {"lossy --shaping emulated", "lose packets"},
                 {"lossy --shaping emulated", "--shaping netem"}});
  check_refused(shell, kSweep + "--on local --on ssh:nowhere.invalid --on local --network",
                {{"wifi --shaping netem", "two devices with a stage each"}});
}

TEST_CASE("a sweep between devices runs over every network, and resumes over another") {
  const Shell shell;
  shell.write("slow.json", R"({"both": {"delay": "3 ms", "rate": "100 Mbit/s"}})");
  write_devices(shell, {{"launch", "env"}, {"program", kStage}});
  const auto sweep = kSweep + "--devices devices.json --on local --on pi --shaping emulated --network ./slow.json";
  check_contains(shell.run(0, sweep + "--dry-run").output,
                 {"8 trials would be run", "on local, pi", "over slow (emulated"});
  REQUIRE(shell.run(sweep).exit_code <= 1);
  REQUIRE(shell.run(sweep + "--network unshaped --resume").exit_code <= 1);
  const auto records = shell.records();
  REQUIRE(records.size() == 2 * kTrials);
  for (const auto& record : records) {
    INFO(record.trial.label());
    REQUIRE(record.network.has_value());
    REQUIRE(record.network->links.size() == 2);
    CHECK(record.network->links.front().emulated_on == "local");
    CHECK(record.network->links.back().emulated_on == "pi");
    if (record.trial.network.name != "slow") continue;
    CHECK(*record.network->round_trip_ns >= 6'000'000);
    if (!record.trial.all_local() && record.summary) CHECK(record.summary->latency->min_ns >= 6e6);
  }
}

TEST_CASE("where nothing is shaped, nothing lies between the stages but the loopback") {
  const Shell shell;
  shell.run(0, kSweep + "--network unshaped");
  for (const auto& record : shell.records()) {
    CHECK(record.trial.shaping == experiment::Shaping::none);
    CHECK_FALSE(record.network.has_value());
  }
}
