// `paretopipe explain` on records of real runs: the bottleneck is the one that the model was made with.
#include <nlohmann/json.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

nlohmann::json explained(const Shell& shell, const std::string& more = "") {
  return shell.as_json("explain out " + more);
}

std::size_t configurations(const std::string& choice) {
  return explained(swept(), choice)["groups"][0]["configurations"].size();
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
  // The first block takes fifty times as long as the second: whatever else this machine does, it is the slower.
  shell.run(0, sweep_of("synthetic:50ms/4kB,1ms") + "--batches 5 --warmup 1 --repeat 2 --depth 4");
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
  check_contains(shell.run("explain out").output,
                 {"1/2: Bound by compute of stage 0 at", "times not splitting (", "Conclusion: "});
}

TEST_CASE("with one batch in flight, stages that are alike take turns, and the depth is what bounds them") {
  const Shell shell;
  shell.run(
      0, sweep_of("synthetic:10ms/4kB,10ms/4kB,10ms") + "--batches 4 --warmup 1 --depth 1 --stages 3 --partitions 1,2");
  const auto json = explained(shell);
  const auto& one = of_split(json, 1);
  INFO(one.dump(2));
  CHECK(one["bottleneck"]["kind"] == "depth");
  CHECK(one["in_flight"] == 1);
  CHECK(one["sufficient_depth"].get<int>() >= 2);
}

TEST_CASE("a shaped link is named with its rate where it is the slowest") {
  const Shell shell;
  shell.write("slow.json", R"({"forward": {"rate": "8 Mbit/s"}})");
  shell.run(sweep_of("synthetic:1ms/50kB,1ms") +
            "--batches 6 --warmup 1 --repeat 1 --split 1 --network ./slow.json --shaping emulated");
  REQUIRE(shell.records().size() == 1);
  // A busy machine can make the relay late, and the trial invalid: that is an answer, too.
  if (shell.records().front().status == record::Status::ok) {
    check_contains(shell.run(0, "explain out --network slow").output,
                   {"1/2: Bound by the link from stage 0 to stage 1 at", "bit/s of 8.00 Mbit/s\n"});
  } else {
    CHECK(contains(shell.run(1, "explain out --network slow").output, "There is nothing to diagnose"));
  }
}

TEST_CASE("one trial, split, network or repetition is explained alone, to a file if wanted") {
  const auto record = swept().records().front();
  const auto id = record.trial.id();
  for (const auto& words : {"explain out " + id, "explain out --trial " + id}) {
    const auto answer = swept().run(0, words);
    CHECK(contains(answer.output, fmt::format("\n{}/3", record.trial.split_points.front())));
    CHECK_FALSE(contains(answer.output, "Conclusion"));
  }
  CHECK(configurations("--trial " + id) == 1);
  CHECK(explained(swept(), "--trial " + id)["groups"][0]["configurations"][0]["repetitions_ok"] == 1);
  CHECK(configurations("--split 2") == 1);
  CHECK(configurations("--network unshaped") == 4);
  CHECK(explained(swept(), "--repetition 2")["groups"][0]["configurations"][0]["repetitions_ok"] == 1);
  CHECK(swept().run(0, "explain out --format markdown --out why.md").output.empty());
  CHECK(swept().text("why.md").starts_with("### synthetic"));
}

TEST_CASE("what cannot be explained is said, with the exit code that it has") {
  swept().write("empty.jsonl", "");
  check_refused(swept(), "explain",
                {{"nowhere", "nowhere"},
                 {"out --network mars", "there is no trial over the network mars; there are"},
                 {"out --format xml", "xml"},
                 {"empty.jsonl", "nothing to explain", 1}});
}
