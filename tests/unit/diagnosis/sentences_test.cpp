#include <paretopipe/diagnosis/sentences.hpp>

#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::testing;
using support::contains;

namespace {

std::string said_of(const GroupDiagnosis& group, const std::vector<int>& split) {
  for (const auto& one : group.configurations) {
    if (one.trial().split_points == split) return fmt::format("{}", fmt::join(sentences(group, one), " "));
  }
  throw std::out_of_range("no such split");
}

/// Of one record alone.
std::string said_of(const record::TrialRecord& record) {
  return said_of(diagnose_all({record}).front(), record.trial.split_points);
}

}  // namespace

TEST_CASE("a slow link is named with the numbers that show it, and the cut that carries a quarter") {
  const auto group = diagnose_all(slow_link_sweep()).front();
  const auto text = said_of(group, {2});
  INFO(text);
  CHECK(contains(text, "The link from stage 0 to stage 1 is the bottleneck: it is busy for 30.0 ms"));
  CHECK(contains(text, "312 KiB a batch, which is 85.4 Mbit/s"));
  CHECK(contains(text, "bounds the throughput at 267 image/s"));
  CHECK(contains(text, "If it took no time, compute of stage 1 would be the bound, at 571 image/s."));
  CHECK(contains(text, "a cut after block 5 would carry 25 % of that (78.1 KiB a batch); measured: 727 image/s."));
  CHECK(contains(text, "That is the fastest that was measured, by 173 %."));
}

TEST_CASE("blocks are called by their names where the records have them") {
  auto records = slow_link_sweep();
  for (auto& record : records) {
    if (record.trial.split_points != std::vector{5}) continue;
    record.stages[0].blocks = {0, 5};
    record.stages[0].last_block = "layer2.0\n";  // an archive's author may call it anything
  }
  const auto group = diagnose_all(records).front();
  CHECK(contains(said_of(group, {2}), "a cut after block 5 (layer2.0?) would carry 25 % of that"));
  CHECK(contains(said_of(group, {8}), "With a cut after block 5 (layer2.0?) the slowest stage"));
  CHECK(contains(conclusion(group), "by a cut after block 5 (layer2.0?), where"));
}

TEST_CASE("a split is set against not splitting, and it is said why it is not faster") {
  const auto group = diagnose_all(slow_link_sweep()).front();
  const auto link = said_of(group, {2});
  INFO(link);
  CHECK(contains(link, "Not splitting gives 400 image/s, so this is 0.67 times as fast."));
  CHECK(contains(link,
                 "2 stages that shared the work evenly would make it 2 times as fast; here stage 1 has 70 % of the "
                 "compute, which allows 1.43 times, and the link from stage 0 to stage 1 only 0.67 times."));
  CHECK(contains(link, "50.0 ms against 20.0 ms: 30.0 ms more transfer."));
  const auto compute = said_of(group, {8});
  INFO(compute);
  CHECK(contains(compute, "Compute of stage 0 is the bottleneck: it takes 16.0 ms, all the time"));
  CHECK(contains(compute, "With a cut after block 5 the slowest stage computes for 11.0 ms instead of 16.0 ms"));
  CHECK(contains(compute, "here stage 0 has 80 % of the compute, which allows 1.25 times."));
  const auto local = said_of(group, {10});
  INFO(local);
  CHECK(contains(local, "With a cut after block 5"));
  CHECK_FALSE(contains(local, "Not splitting gives"));
  CHECK_FALSE(contains(local, "If it took no time"));
}

TEST_CASE("what more in flight brings is said, but not where one was all there was") {
  auto pipeline = two_stages(10, 5, 10);
  pipeline.depth = 4;
  const auto text = said_of(record_of(pipeline, {5}));
  INFO(text);
  // A batch of 8 in 25 ms, and one every 10 ms.
  CHECK(contains(text, "With one batch in flight it gives 320 image/s; 4 in flight make that 2.50 times."));
  pipeline.depth = 1;
  CHECK_FALSE(contains(said_of(record_of(pipeline, {5})), "With one batch in flight it gives"));
}

TEST_CASE("the fastest split is told that nothing measured is faster") {
  const auto group = diagnose_all(slow_link_sweep()).front();
  CHECK(contains(said_of(group, {5}), "No split that was measured under these settings is faster."));
  CHECK(contains(said_of(slow_link_sweep().front()), "No other split has a result under these settings."));
}

TEST_CASE("too little in flight is named with the depth that suffices") {
  auto pipeline = two_stages(10, 5, 10);
  pipeline.depth = 1;
  const auto text = said_of(record_of(pipeline, {5}));
  INFO(text);
  CHECK(contains(text, "Too little is in flight: a batch takes 25.0 ms round the ring"));
  CHECK(contains(text, "with one in flight stages and links take turns, while no part is busy for more than 10.0 ms"));
  CHECK(contains(text, "With 3 in flight, compute of stage 0 would be the bound, at 800 image/s."));
}

TEST_CASE("a run that is too short for its depth is not called faster than its bound") {
  auto pipeline = two_stages(1, 1, 1);
  pipeline.delay = {100'000'000, 100'000'000};
  pipeline.batches = 8;
  pipeline.warmup = 4;
  const auto text = said_of(record_of(pipeline, {5}));
  INFO(text);
  CHECK(contains(text, "Too little is in flight"));
  CHECK(contains(text, "over 7 results, which are too few: what is in flight comes back in bunches of 4."));
}

TEST_CASE("the way back and the source are named, and that no cut changes them") {
  auto back = two_stages(1, 1, 1);
  back.link[1] = 5'000'000;
  CHECK(contains(said_of(record_of(back, {5})), "The way back from stage 1 to stage 0 is the bottleneck"));
  CHECK(contains(said_of(record_of(back, {5})), "Every cut sends a result back."));
  auto source = two_stages(1, 1, 1);
  source.source = 5'000'000;
  CHECK(contains(said_of(record_of(source, {5})), "The source is the bottleneck: to compare a result"));
  CHECK(contains(said_of(record_of(source, {5})), "No cut changes that."));
}

TEST_CASE("a run far below its bound is explained by batches that differ, or not at all") {
  std::mt19937 random(1);
  auto uneven = two_stages(10, 0, 10);
  uneven.depth = 2;
  uneven.batches = 300;
  uneven.scatter = [&] { return std::uniform_real_distribution<double>(0.1, 1.9)(random); };
  const auto text = said_of(record_of(uneven, {5}));
  INFO(text);
  CHECK(contains(text, "its batches differ (one in ten takes more than"));
  CHECK(contains(text, "2 in flight do not even that out"));

  auto halted = two_stages(10, 1, 10);
  halted.pause = 10'000'000;
  CHECK(contains(said_of(record_of(halted, {5})), "The other 10.0 ms are no part's work, and the records do not say"));
}

TEST_CASE("stages that take their CPUs from each other are noticed") {
  auto record = record_of(two_stages(10, 1, 10), {5});
  auto slowed = two_stages(15, 1, 15);
  record.offline = run(slowed, 4);
  for (auto& stage : record.stages) stage.cpus = "3";
  record.summary = stats::summarise(*record.single_stream, *record.offline, 8, record.links);
  CHECK(contains(said_of(record),
                 "With 4 in flight stage 0 computes for 15.0 ms a batch instead of 10.0 ms: the stages share CPUs."));
}

TEST_CASE("in a pipeline of three stages a lighter cut lies between its neighbours") {
  const auto three = [](std::int64_t second_link, std::vector<int> cuts, std::int64_t payload) {
    auto record = record_of({.compute = {2'000'000, 2'000'000, 2'000'000},
                             .link = {1'000'000, second_link, 1000},
                             .delay = {0, 0, 0},
                             .batches = 60,
                             .warmup = 10},
                            std::move(cuts));
    record.links[1].payload_bytes = payload;
    record.summary = stats::summarise(*record.single_stream, *record.offline, 8, record.links);
    return record;
  };
  const auto heavy = three(9'000'000, {2, 5}, 90'000);
  const auto light = three(1'000'000, {1, 4}, 10'000);   // tells what crosses a cut after block 4, not measured with 2
  const auto outside = three(1'000'000, {1, 2}, 1'000);  // 2 is no place for the second cut
  const auto text = said_of(diagnose_all({heavy, light, outside}).front(), {2, 5});
  INFO(text);
  CHECK(contains(text, "The link from stage 1 to stage 2 is the bottleneck"));
  CHECK(contains(text, "a cut after block 4 would carry 11 % of that (9.77 KiB a batch); it was not measured."));
  CHECK(contains(said_of(diagnose_all({heavy, outside}).front(), {2, 5}), "No cut that was measured in its place"));
}

TEST_CASE("failed and invalid repetitions are told with their reasons") {
  auto invalid = slow_link_sweep()[1];
  invalid.status = record::Status::invalid;
  invalid.failure = record::Failure{"conditions", std::nullopt, "a slow window"};
  CHECK(said_of(invalid) ==
        "There is nothing to diagnose: of 1 repetition, 0 failed and 1 was not measured as asked "
        "(conditions: a slow window).");
  auto several = std::vector{make_failure(make_trial(3, 0), "gone"), make_failure(make_trial(3, 1), "gone")};
  CHECK(said_of(diagnose_all(several).front(), {3}) ==
        "There is nothing to diagnose: of 2 repetitions, 2 failed and 0 were not measured as asked (run, stage 1: "
        "gone).");
}

TEST_CASE("trials of one phase are not diagnosed, and it is said which they had") {
  auto records = slow_link_sweep();
  const auto phases = GENERATE(config::Phases::single_stream, config::Phases::offline);
  for (auto& record : records) record = in_phases(std::move(record), phases);
  const auto group = diagnose_all(records).front();
  const auto sentence =
      "What bounds the throughput takes both phases to tell, and this was measured " + config::describe(phases) + ".";
  CHECK(said_of(group, {2}) == sentence);
  CHECK(conclusion(group) == sentence);
  CHECK(group.measured_count() == 0);
}

TEST_CASE("where nothing took any time there is no bound, and no infinity") {
  auto record = record_of(two_stages(0, 0, 0), {5});
  for (auto* phase : {&*record.single_stream, &*record.offline}) {
    for (std::size_t b = 0; b < phase->results.completed.size(); ++b) {
      const auto moment = static_cast<std::int64_t>(b) * 1000;
      for (auto& stage : phase->stages) {
        for (const auto member : kStageMoments) (stage.*member)[b] = moment;
      }
      for (const auto member : kResultMoments) (phase->results.*member)[b] = moment;
    }
    phase->depth = 1000;  // all at once: the source's time is not known
  }
  record.summary = stats::summarise(*record.single_stream, *record.offline, 8, record.links);
  const auto text = said_of(record);
  INFO(text);
  CHECK(contains(text, "That is no bound; the run reached 8.00 M image/s."));
  CHECK_FALSE(contains(text, "inf"));
  CHECK_FALSE(contains(text, "nan"));
}

TEST_CASE("the conclusion names the fastest split, its bound, the baseline and how often which part is in the way") {
  const auto text = conclusion(diagnose_all(slow_link_sweep()).front());
  CHECK(text ==
        "The highest throughput measured is 727 image/s, by a cut after block 5, where the bound is compute of stage "
        "1. That "
        "is 1.82 times the throughput of not splitting, 400 image/s. The bottleneck of the 5 splits is the link from "
        "stage 0 "
        "to stage 1 in 2, compute of stage 0 in 2, compute of stage 1 in 1.");
  auto records = slow_link_sweep();
  records.erase(records.begin() + 2, records.begin() + 4);
  CHECK(contains(conclusion(diagnose_all(records).front()),
                 "by not splitting, where the bound is compute of stage 0. No "
                 "split is faster than that."));
  records.pop_back();
  CHECK(contains(conclusion(diagnose_all(records).front()), "Not splitting was not measured."));
  records.pop_back();
  CHECK(contains(conclusion(diagnose_all(records).front()), "No other split has a result."));
  CHECK(conclusion(diagnose_all({make_failure(make_trial(3), "x")}).front()) ==
        "No trial of these settings has a result that counts.");
}
