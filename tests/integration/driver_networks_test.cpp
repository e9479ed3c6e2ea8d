// Sweeps over networks, as from a shell. What depends on the kernel is in shaping/; a relay works everywhere.
#include <algorithm>
#include <csignal>
#include <set>
#include <thread>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;
using namespace std::chrono_literals;

namespace {

const Shell::Words kOverNetworks =
    kSweep + Shell::Words{"--network", "unshaped", "--network", "./slow.json", "--shaping", "emulated"};

/// False if the running sweep has not written so many within half a minute.
bool wait_for_records(const Shell& shell, std::size_t count) {
  const auto deadline = Clock::now() + 30s;
  while (!std::filesystem::exists(shell.records_file()) || shell.records().size() < count) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

void write_slow_network(const Shell& shell) {
  support::write_file(shell.folder() / "slow.json", R"({"both": {"delay": "2 ms", "rate": "100 Mbit/s"}})");
}

}  // namespace

TEST_CASE("every split is measured under every network, and each record says what the network really did") {
  const Shell shell;
  write_slow_network(shell);
  const auto sweep = shell.run(kOverNetworks);
  INFO(sweep.errors);
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
}

TEST_CASE("the frontier is one per network, and says how it moves") {
  const Shell shell;
  write_slow_network(shell);
  REQUIRE(shell.run(kOverNetworks).exit_code <= 1);
  const auto frontier = shell.run({"frontier", "out"});
  REQUIRE(frontier.exit_code == 0);
  CHECK(contains(frontier.output, "over unshaped (emulated"));
  CHECK(contains(frontier.output, "over slow (emulated: 2.00 ms, 100 Mbit/s)"));
  CHECK(contains(frontier.output, "How the frontier moves"));
  const bool unshaped_first = contains(frontier.output, "Whatever the network (unshaped, slow): ");
  CHECK((unshaped_first || contains(frontier.output, "Whatever the network (slow, unshaped): ")));
}

TEST_CASE("a sweep over networks resumes, and its dry run names them") {
  const Shell shell;
  write_slow_network(shell);
  const auto plan = shell.run(kOverNetworks + Shell::Words{"--dry-run"});
  CHECK(plan.exit_code == 0);
  CHECK(contains(plan.output, "16 trials would be run"));
  CHECK(contains(plan.output, "over slow (emulated)"));
  const auto only_one = kSweep + Shell::Words{"--network", "./slow.json", "--shaping", "emulated"};
  REQUIRE(shell.run(only_one).exit_code <= 1);
  const auto before = shell.records().size();
  CHECK(before == kTrials);
  REQUIRE(shell.run(kOverNetworks + Shell::Words{"--resume"}).exit_code <= 1);
  CHECK(shell.records().size() == 2 * kTrials);
}

TEST_CASE("a sweep that is ended while it probes a very slow network ends within moments and keeps its records") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const Shell shell;
  // Two transfers of fifty frames each: the probe takes more than two minutes.
  support::write_file(shell.folder() / "slow.json", R"({"both": {"delay": "1 s", "rate": "10 kbit/s"}})");
  const auto before_the_slow_one = kTrials / 2;
  auto sweep = shell.start(kOverNetworks + Shell::Words{"--seed", "2"});  // whose order begins with the other network
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
  struct Refused {
    Shell::Words words;
    int exit_code;
    std::string named;
  };
  const auto refused = GENERATE(values<Refused>({
      {{"--network", "wify"}, 2, "did you mean \"wifi\"?"},
      {{"--network", "no/such.json"}, 2, "no/such.json"},
      {{"--network", "./nonsense.json"}, 2, "loss"},
      {{"--network", "wifi", "--shaping", "none"}, 2, "wifi"},
      {{"--network", "lossy", "--shaping", "emulated"}, 2, "lossy: An emulated link cannot lose packets"},
      {{"--network", "wifi", "--shaping", "magic"}, 2, "magic"},
  }));
  const Shell shell;
  support::write_file(shell.folder() / "nonsense.json", R"({"both": {"loss": 2}})");
  const auto answer = shell.run(kSweep + refused.words);
  INFO(answer.errors);
  CHECK(answer.exit_code == refused.exit_code);
  CHECK(contains(answer.errors, refused.named));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "out"));
}

TEST_CASE("where nothing is shaped, nothing lies between the stages but the loopback") {
  const Shell shell;
  REQUIRE(shell.run(kSweep + Shell::Words{"--network", "unshaped"}).exit_code == 0);
  for (const auto& record : shell.records()) {
    CHECK(record.trial.shaping == experiment::Shaping::none);
    CHECK_FALSE(record.network.has_value());
  }
}
