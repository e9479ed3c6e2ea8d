// Stages on devices, as from a shell.
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// First and last layers on the source's device, the others on another.
const Shell::Words kUShape = sweep_of("synthetic:0ms/4kB,0ms/64kB,0ms/8kB,0ms") +
                             Shell::Words{"--batches", "4", "--warmup",    "1",     "--repeat",     "1",
                                          "--stages",  "3", "--placement", "0,1,0", "--partitions", "1,3"};

void write_one_sided_network(const Shell& shell) {
  support::write_file(shell.folder() / "slow.json", R"({"forward": {"delay": "3 ms"}, "backward": {"delay": "6 ms"}})");
}

std::int64_t transfer_ns(const record::TrialRecord& record, std::size_t link) {
  return static_cast<std::int64_t>(record.summary->links.at(link).transfer_p50_ns);
}

}  // namespace

TEST_CASE("the first and the last layers run on one device, on the same CPUs") {
  const Shell shell;
  const auto sweep = shell.run(kUShape);
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  const auto record = shell.records().at(0);
  CHECK(record.trial.placement == experiment::Placement{0, 1, 0});
  REQUIRE(record.stages.size() == 3);
  CHECK(record.stages[0].cpus == record.stages[2].cpus);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK(contains(shell.run({"frontier", "out"}).output, "placement 0,1,0"));
  CHECK(contains(shell.run({"explain", "out"}).output, "placement 0,1,0"));
}

TEST_CASE("a placement is part of what is planned, and of a trial's identity unless it is the usual one") {
  const Shell shell;
  CHECK(contains(shell.run(kUShape + Shell::Words{"--dry-run"}).output, "placed 0,1,0"));
  REQUIRE(shell.run(kUShape).exit_code == 0);
  const auto again = [&](const std::string& placement) {
    auto words = kUShape + Shell::Words{"--resume"};
    for (auto& word : words) word = word == "0,1,0" ? placement : word;
    return shell.run(words).exit_code;
  };
  REQUIRE(again("0,1,2") == 0);
  const auto records = shell.records();
  REQUIRE(records.size() == 2);
  CHECK(records[0].trial.id() != records[1].trial.id());
  CHECK(records[1].trial.placement.empty());
}

TEST_CASE("an emulated network lies between devices, each way in its direction, and not within one") {
  const Shell shell;
  write_one_sided_network(shell);
  const auto sweep = shell.run(kUShape + Shell::Words{"--network", "./slow.json", "--shaping", "emulated"});
  INFO(sweep.errors);
  const auto record = shell.records().at(0);
  REQUIRE(record.summary.has_value());
  CHECK(record.network->read_back.forward.delay == std::chrono::milliseconds(3));
  CHECK(record.network->read_back.backward.delay == std::chrono::milliseconds(6));
  CHECK(transfer_ns(record, 0) >= 3'000'000);
  CHECK(transfer_ns(record, 1) >= 6'000'000);
  // Of a trial that a busy machine spoilt there is nothing to explain; unit_diagnosis has its links.
  if (record.status != record::Status::ok) return;
  const auto explained = shell.run({"explain", "out", "--format", "json"});
  const auto links = nlohmann::json::parse(explained.output)["groups"][0]["configurations"][0]["links"];
  REQUIRE(links.size() == 3);
  CHECK(links[0]["delay_ns"] == 3e6);
  CHECK(links[1]["delay_ns"] == 6e6);
  CHECK(links[2]["delay_ns"] == 0);
}

TEST_CASE("stages that follow one another on one device have no network between them either") {
  const Shell shell;
  write_one_sided_network(shell);
  auto words = kUShape + Shell::Words{"--network", "./slow.json", "--shaping", "emulated"};
  for (auto& word : words) word = word == "0,1,0" ? "0,0,1" : word;
  shell.run(words);
  const auto record = shell.records().at(0);
  REQUIRE(record.summary.has_value());
  CHECK(transfer_ns(record, 1) >= 3'000'000);
  CHECK(transfer_ns(record, 2) >= 6'000'000);
}

TEST_CASE("the kernel shapes the links between devices, and none within one, where it can", "[needs:namespaces]") {
  const Shell shell;
  support::write_file(shell.folder() / "slow.json",
                      R"({"forward": {"rate": "100 Mbit/s"}, "backward": {"rate": "50 Mbit/s"}})");
  const auto sweep = shell.run(kUShape + Shell::Words{"--network", "./slow.json", "--shaping", "netem"});
  INFO(sweep.errors);
  if (sweep.exit_code == 3) {
    support::skip(sweep.errors);
  }
  const auto record = shell.records().at(0);
  REQUIRE(record.network.has_value());
  CHECK(record.network->read_back.forward.rate_bit_per_s == 100'000'000);
  CHECK(record.network->read_back.backward.rate_bit_per_s == 50'000'000);
  CHECK(record.fidelity->max_abs_difference == 0);
}

TEST_CASE("the endpoints of every partition leave all to the source, or to the device farthest from it") {
  const Shell shell;
  auto words = kUShape;
  for (auto& word : words) word = word == "1,3" ? "all" : word;
  REQUIRE(shell.run(words).exit_code == 0);
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
  struct Refused {
    Shell::Words words;
    std::string named;
  };
  const auto refused = GENERATE(values<Refused>({
      {{"--placement", "0,1"}, "for each of the 3 stages"},
      {{"--placement", "1,0,1"}, "the first stage is the source"},
      {{"--placement", "0,2,0"}, "no stage is on device 1"},
      {{"--placement", "phone"}, "the placement is \"phone\""},
      {{"--placement", "0,0,0", "--network", "wifi"}, "nothing crosses the network wifi"},
      {{"--placement", "0,1,0", "--cpus", "0", "--cpus", "0", "--cpus", "1"}, "puts both on device 0"},
  }));
  const Shell shell;
  const auto answer = shell.run(kSweep + Shell::Words{"--stages", "3"} + refused.words);
  INFO(answer.errors);
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, refused.named));
  CHECK(shell.folder_is_empty());
}
