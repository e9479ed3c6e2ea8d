// `paretopipe explain` on records of real runs: the bottleneck is the one that the model was made with.
#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// The first block takes fifty times as long as the second: whatever else this machine does, it is the slower.
const Shell::Words kLopsided = sweep_of("synthetic:50ms/4kB,1ms") +
                               Shell::Words{"--batches", "5", "--warmup", "1", "--repeat", "2", "--depth", "4"};

nlohmann::json explained(const Shell& shell, const Shell::Words& more = {}) {
  const auto answer = shell.run(Shell::Words{"explain", "out", "--format", "json"} + more);
  INFO(answer.errors);
  REQUIRE(answer.exit_code == 0);
  return nlohmann::json::parse(answer.output);
}

const nlohmann::json& of_split(const nlohmann::json& groups, int split) {
  for (const auto& one : groups.at("groups").at(0).at("configurations")) {
    if (one.at("split_points").at(0) == split) return one;
  }
  throw std::out_of_range("no such split");
}

}  // namespace

TEST_CASE("the stage that has the slow block bounds a real pipeline, in every split") {
  const Shell shell;
  REQUIRE(shell.run(kLopsided).exit_code == 0);
  const auto json = explained(shell);
  for (const int split : {0, 1, 2}) {
    const auto& one = of_split(json, split);
    INFO(one.dump(2));
    CHECK(one["bottleneck"]["kind"] == "compute");
    CHECK(one["bottleneck"]["stage"] == (split == 0 ? 1 : 0));
    CHECK(one["constraints"][0]["period_ns"].get<double>() >= 50e6);  // no sleep is shorter than it was asked to be
    CHECK(one["repetitions_ok"] == 2);
    CHECK(one["unqueued_ns"].get<double>() >= 51e6);
    const auto bound = one["constraints"][0]["bound_image_per_s"].get<double>();
    CHECK(one["throughput_image_per_s"].get<double>() == Approx(bound * one["reached"].get<double>()));
  }
  const auto text = shell.run({"explain", "out"});
  CHECK(contains(text.output, "1/2: Bound by compute of stage 0 at"));
  CHECK(contains(text.output, "times not splitting ("));
  CHECK(contains(text.output, "Conclusion: "));
}

TEST_CASE("with one batch in flight, stages that are alike take turns, and the depth is what bounds them") {
  const Shell shell;
  REQUIRE(
      shell
          .run(sweep_of("synthetic:10ms/4kB,10ms/4kB,10ms") +
               Shell::Words{"--batches", "4", "--warmup", "1", "--depth", "1", "--stages", "3", "--partitions", "1,2"})
          .exit_code == 0);
  const auto json = explained(shell);
  const auto& one = of_split(json, 1);
  INFO(one.dump(2));
  CHECK(one["bottleneck"]["kind"] == "depth");
  CHECK(one["in_flight"] == 1);
  CHECK(one["sufficient_depth"].get<int>() >= 2);
}

TEST_CASE("a shaped link is named with its rate where it is the slowest") {
  const Shell shell;
  support::write_file(shell.folder() / "slow.json", R"({"forward": {"rate": "8 Mbit/s"}})");
  shell.run(sweep_of("synthetic:1ms/50kB,1ms") + Shell::Words{"--batches", "6", "--warmup", "1", "--repeat", "1",
                                                              "--split", "1", "--network", "./slow.json", "--shaping",
                                                              "emulated"});
  REQUIRE(shell.records().size() == 1);
  const auto answer = shell.run({"explain", "out", "--network", "slow"});
  INFO(answer.output);
  // A busy machine can make the relay late, and the trial invalid: that is an answer, too.
  if (shell.records().front().status == record::Status::ok) {
    CHECK(answer.exit_code == 0);
    CHECK(contains(answer.output, "1/2: Bound by the link from stage 0 to stage 1 at"));
    CHECK(contains(answer.output, "bit/s of 8.00 Mbit/s\n"));
  } else {
    CHECK(answer.exit_code == 1);
    CHECK(contains(answer.output, "There is nothing to diagnose"));
  }
}

TEST_CASE("one trial, one split or one network is explained alone, to a file if wanted") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto record = shell.records().front();
  const auto id = record.trial.id();
  const auto label = std::to_string(record.trial.split_points.front()) + "/3";
  for (const auto& words : {Shell::Words{"explain", "out", id}, Shell::Words{"explain", "out", "--trial", id}}) {
    const auto answer = shell.run(words);
    CHECK(answer.exit_code == 0);
    CHECK(contains(answer.output, "\n" + label));
    CHECK_FALSE(contains(answer.output, "Conclusion"));
  }
  const auto json = explained(shell, {"--trial", id});
  REQUIRE(json["groups"][0]["configurations"].size() == 1);
  CHECK(json["groups"][0]["configurations"][0]["repetitions_ok"] == 1);
  CHECK(explained(shell, {"--split", "2"})["groups"][0]["configurations"].size() == 1);
  CHECK(explained(shell, {"--network", "unshaped"})["groups"][0]["configurations"].size() == 4);
  const auto written = shell.run({"explain", "out", "--format", "markdown", "--out", "why.md"});
  CHECK(written.exit_code == 0);
  CHECK(written.output.empty());
  CHECK(support::read_file(shell.folder() / "why.md").starts_with("### synthetic"));
}

TEST_CASE("what cannot be explained is said, with the exit code that it has") {
  const Shell shell;
  CHECK(shell.run({"explain", "nowhere"}).exit_code == 2);
  REQUIRE(shell.run(kInstantSweep).exit_code == 0);
  const auto unknown = shell.run({"explain", "out", "--network", "mars"});
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.errors, "there is no trial over the network mars; there are"));
  CHECK(shell.run({"explain", "out", "--format", "xml"}).exit_code == 2);
  support::write_file(shell.folder() / "empty.jsonl", "");
  const auto empty = shell.run({"explain", "empty.jsonl"});
  CHECK(empty.exit_code == 1);
  CHECK(contains(empty.errors, "nothing to explain"));
}
