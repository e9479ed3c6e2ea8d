// Pipelines of more than two stages, as from a shell.
#include <algorithm>
#include <set>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// Six blocks, of which the fifth is the only one that takes time.
const Shell::Words kChain = sweep_of("synthetic:0ms/4kB,0ms/8kB,0ms/4kB,0ms/4kB,3ms/4kB,0ms") +
                            Shell::Words{"--batches", "3", "--warmup", "1", "--repeat", "1"};

std::set<std::vector<int>> partitions(const Shell& shell) {
  std::set<std::vector<int>> found;
  for (const auto& record : shell.records()) found.insert(record.trial.split_points);
  return found;
}

}  // namespace

TEST_CASE("every partition into three stages is measured, and the frontier is drawn of them all") {
  const Shell shell;
  const auto sweep = shell.run(kChain + Shell::Words{"--stages", "3"});
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  const auto records = shell.records();
  CHECK(records.size() == 10 + 2);
  for (const auto& record : records) {
    INFO(record.trial.label());
    CHECK(record.status == record::Status::ok);
    CHECK(record.fidelity->max_abs_difference == 0);
    CHECK(record.trial.cpus.size() == 3);
    CHECK(record.stages.size() == (record.trial.all_local() ? 1U : 3U));
    CHECK(record.links.size() == (record.trial.all_local() ? 0U : 3U));
  }
  CHECK(partitions(shell).contains({0, 0}));
  CHECK(partitions(shell).contains({2, 5}));
  CHECK(partitions(shell).contains({6, 6}));
  const auto frontier = shell.run({"frontier", "out"});
  CHECK(frontier.exit_code == 0);
  CHECK(contains(frontier.output, "2,5"));
  CHECK(contains(frontier.output, "6,6 local"));
  for (const auto* layout : {"trials", "batches", "jsonl"}) {
    CHECK(shell.run({"export", "out", "--layout", layout, "--out", "exported"}).exit_code == 0);
  }
  const auto python = shell.run({"export", "out", "--layout", "python", "--out", "exported"});
  CHECK(contains(python.errors, "more than two stages"));
}

TEST_CASE("schemes and listed partitions are measured, and resume knows them") {
  const Shell shell;
  const auto words = kChain + Shell::Words{"--stages",     "4",          "--partitions", "front-heavy",
                                           "--partitions", "equal-load", "--partitions", "1,2,5"};
  REQUIRE(shell.run(words).exit_code == 0);
  CHECK(partitions(shell) == std::set<std::vector<int>>{{1, 2, 5}, {2, 4, 5}, {3, 4, 5}});
  const auto again = shell.run(words + Shell::Words{"--resume", "--partitions", "0,0,6"});
  CHECK(again.exit_code == 0);
  CHECK(shell.records().size() == 4);
}

TEST_CASE("equal-time gives the block that takes all the time a stage of its own") {
  const Shell shell;
  REQUIRE(shell.run(kChain + Shell::Words{"--stages", "3", "--partitions", "equal-time"}).exit_code == 0);
  CHECK(partitions(shell) == std::set<std::vector<int>>{{4, 5}});
  const Shell pair;
  REQUIRE(pair.run(kChain + Shell::Words{"--partitions", "equal-time"}).exit_code == 0);
  CHECK(pair.records().front().stages.size() == 2);
}

TEST_CASE("four stages over an emulated network have a link each, with its delay") {
  const Shell shell;
  support::write_file(shell.folder() / "slow.json", R"({"forward": {"delay": "3 ms"}, "backward": {"delay": "5 ms"}})");
  const auto sweep = shell.run(kChain + Shell::Words{"--stages", "4", "--partitions", "1,2,3", "--network",
                                                     "./slow.json", "--shaping", "emulated"});
  INFO(sweep.errors);
  REQUIRE(shell.records().size() == 1);
  const auto record = shell.records().front();
  REQUIRE(record.summary.has_value());
  CHECK(record.summary->latency->min_ns >= 3 * 3e6 + 5e6);  // no batch can be faster than its links
  REQUIRE(record.summary->links.size() == 4);
  for (std::size_t link = 0; link < 3; ++link) CHECK(record.summary->links[link].transfer_p50_ns >= 3e6);
  CHECK(record.summary->links[3].transfer_p50_ns >= 5e6);
}

TEST_CASE("three stages in namespaces of their own talk over links that the kernel shapes, where it can",
          "[needs:namespaces]") {
  const Shell shell;
  support::write_file(shell.folder() / "slow.json",
                      R"({"forward": {"rate": "100 Mbit/s"}, "backward": {"rate": "50 Mbit/s"}})");
  const auto sweep = shell.run(
      kChain + Shell::Words{"--stages", "3", "--partitions", "2,4", "--network", "./slow.json", "--shaping", "netem"});
  INFO(sweep.errors);
  if (sweep.exit_code == 3) {
    support::skip(sweep.errors);
  }
  REQUIRE(shell.records().size() == 1);
  const auto record = shell.records().front();
  REQUIRE(record.network.has_value());
  CHECK(record.network->read_back.forward.rate_bit_per_s == 100'000'000);
  CHECK(record.network->read_back.backward.rate_bit_per_s == 50'000'000);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK(record.links.size() == 3);
}

TEST_CASE("stages that share a CPU are warned of") {
  const Shell shell;
  const auto words = kChain + Shell::Words{"--stages", "3", "--partitions", "equal-load", "--dry-run"};
  CHECK(contains(shell.run(words + Shell::Words{"--cpus", "0", "--cpus", "0", "--cpus", "0"}).errors,
                 "CPU 0 computes for more than one stage"));
}

TEST_CASE("what cannot be cut so is refused, with what can") {
  struct Refused {
    Shell::Words words;
    std::string named;
  };
  const auto refused = GENERATE(values<Refused>({
      {{"--stages", "1"}, "from 2 to 16"},
      {{"--stages", "7"}, "has 6 blocks, which cannot be cut into 7 stages"},
      {{"--stages", "3", "--split", "2"}, "give partitions instead"},
      {{"--stages", "3", "--partitions", "2"}, "3 stages need 2"},
      {{"--stages", "3", "--partitions", "front-hevy"}, "did you mean \"front-heavy\"?"},
      {{"--stages", "3", "--partitions", "2,9"}, "split point 9 is outside"},
      {{"--max-partitions", "3"}, "all partitions"},
      {{"--stages", "3", "--cpus", "0", "--cpus", "0"}, "each of the 3 stages"},
  }));
  const Shell shell;
  const auto answer = shell.run(kChain + refused.words);
  INFO(answer.errors);
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, refused.named));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "out"));
}
