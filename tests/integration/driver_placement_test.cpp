// Stages on devices, as from a shell.
#include <paretopipe/shaping/network.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// First and last layers on the source's device, the others on another.
Words u_shape(const std::string& placement = "0,1,0", const std::string& partitions = "1,3") {
  return sweep_of("synthetic:0ms/4kB,0ms/64kB,0ms/8kB,0ms") +
         ("--batches 4 --warmup 1 --repeat 1 --stages 3 --placement " + placement + " --partitions " + partitions);
}

/// Of stages so placed, over a network that is slower one way than the other.
record::TrialRecord over_one_sided_network(const Shell& shell, const std::string& placement) {
  shell.write("slow.json", R"({"forward": {"delay": "3 ms"}, "backward": {"delay": "6 ms"}})");
  const auto sweep = shell.run(u_shape(placement) + "--network ./slow.json --shaping emulated");
  INFO(sweep.errors);
  const auto record = shell.records().at(0);
  REQUIRE(record.summary.has_value());
  return record;
}

std::int64_t transfer_ns(const record::TrialRecord& record, std::size_t link) {
  return static_cast<std::int64_t>(record.summary->links.at(link).transfer_p50_ns);
}

/// True if the stages of a ring connect to the next one themselves, and not to a relay.
std::vector<bool> direct(const experiment::Placement& placement) {
  constexpr std::uint16_t kPort = 4711;
  const auto network = shaping::make_network(experiment::Shaping::emulated, 3, placement);
  return {network->route(0, 1, kPort).port == kPort, network->route(1, 2, kPort).port == kPort,
          network->route(2, 0, kPort).port == kPort};
}

}  // namespace

TEST_CASE(
    "the first and the last layers run on one device, on the same CPUs, as planned and told, in a trial that is "
    "another one than the usual placement's") {
  const Shell shell;
  CHECK(contains(shell.run(u_shape() + "--dry-run").output, "placed 0,1,0"));
  shell.run(0, u_shape());
  CHECK(contains(shell.run("frontier out").output, "placement 0,1,0"));
  CHECK(contains(shell.run("explain out").output, "placement 0,1,0"));
  shell.run(0, u_shape("0,1,2") + "--resume");
  const auto records = shell.records();
  REQUIRE(records.size() == 2);
  CHECK(records[0].trial.placement == experiment::Placement{0, 1, 0});
  REQUIRE(records[0].stages.size() == 3);
  CHECK(records[0].stages[0].cpus == records[0].stages[2].cpus);
  CHECK(records[0].fidelity->max_abs_difference == 0);
  CHECK(records[0].trial.id() != records[1].trial.id());
  CHECK(records[1].trial.placement.empty());
}

TEST_CASE("an emulated network has a relay between devices, and none between two stages of one") {
  CHECK(direct({}) == std::vector{false, false, false});
  CHECK(direct({0, 1, 0}) == std::vector{false, false, true});
  CHECK(direct({0, 0, 1}) == std::vector{true, false, false});
}

TEST_CASE("an emulated network lies between devices, each way in its direction, and not within one") {
  const Shell shell;
  const auto record = over_one_sided_network(shell, "0,1,0");
  CHECK(record.network->read_back.forward.delay == std::chrono::milliseconds(3));
  CHECK(record.network->read_back.backward.delay == std::chrono::milliseconds(6));
  CHECK(transfer_ns(record, 0) >= 3'000'000);
  CHECK(transfer_ns(record, 1) >= 6'000'000);
  // Of a trial that a busy machine spoilt there is nothing to explain; unit_diagnosis has its links.
  if (record.status != record::Status::ok) return;
  const auto links = shell.as_json("explain out")["groups"][0]["configurations"][0]["links"];
  REQUIRE(links.size() == 3);
  CHECK(links[0]["delay_ns"] == 3e6);
  CHECK(links[1]["delay_ns"] == 6e6);
  CHECK(links[2]["delay_ns"] == 0);
}

TEST_CASE("stages that follow one another on one device have no network between them either") {
  const auto record = over_one_sided_network(Shell(), "0,0,1");
  CHECK(transfer_ns(record, 1) >= 3'000'000);
  CHECK(transfer_ns(record, 2) >= 6'000'000);
}

TEST_CASE("the kernel shapes the links between devices, each way in its direction, where it can",
          "[needs:namespaces]") {
  const Shell shell;
  shell.write("slow.json", R"({"forward": {"rate": "100 Mbit/s"}, "backward": {"rate": "50 Mbit/s"}})");
  const auto sweep = shell.run(u_shape() + "--network ./slow.json --shaping netem");
  INFO(sweep.errors);
  if (sweep.exit_code == 3) support::skip(sweep.errors);
  const auto record = shell.records().at(0);
  REQUIRE(record.network.has_value());
  CHECK(record.network->read_back.forward.rate_bit_per_s == 100'000'000);
  CHECK(record.network->read_back.backward.rate_bit_per_s == 50'000'000);
  CHECK(record.fidelity->max_abs_difference == 0);
}

TEST_CASE("the endpoints of every partition leave all to the source, or to the device farthest from it") {
  const Shell shell;
  shell.run(0, u_shape("0,1,0", "all"));
  bool local = false, remote = false;
  for (const auto& record : shell.records()) {
    local |= record.trial.all_local();
    remote |= record.trial.all_remote();
    CHECK(record.trial.split_points != std::vector<int>{0, 0});
  }
  CHECK(local);
  CHECK(remote);
}

TEST_CASE("a placement that cannot be is a sentence, and nothing is made") {
  check_refused(Shell(), kSweep + "--stages 3 --placement",
                {{"0,1", "for each of the 3 stages"},
                 {"1,0,1", "the first stage is the source"},
                 {"0,2,0", "no stage is on device 1"},
                 {"phone", "the placement is \"phone\""},
                 {"0,0,0 --network wifi", "nothing crosses the network wifi"},
                 {"0,1,0 --cpus 0 --cpus 0 --cpus 1", "puts both on device 0"}});
}
