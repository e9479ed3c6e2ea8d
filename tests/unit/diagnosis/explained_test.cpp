// What people read of each kind of bottleneck, doubt and baseline, byte for byte.
#include <paretopipe/render/render_diagnosis.hpp>

#include <fmt/format.h>
#include <support/catch.hpp>
#include <support/golden.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

using Records = std::vector<record::TrialRecord>;

Records one(const Pipeline& pipeline) {
  return {record_of(pipeline, {5})};
}

Records with_block_names() {
  auto records = slow_link_sweep();
  records[2].stages[0].blocks = {0, 5};
  records[2].stages[0].last_block = "layer2.0\n";  // an archive's author may call it anything
  return {records[1], records[2], records[3]};
}

Records with_delay_and_few_batches() {
  auto pipeline = two_stages(1, 1, 1);
  pipeline.delay = {100'000'000, 100'000'000};
  pipeline.batches = 8;
  pipeline.warmup = 4;
  return one(pipeline);
}

Records with_in_flight(int depth) {
  auto pipeline = two_stages(10, 5, 10);
  pipeline.depth = depth;
  return one(pipeline);
}

Records with_slow_way_back() {
  auto pipeline = two_stages(1, 1, 1);
  pipeline.link[1] = 5'000'000;
  return one(pipeline);
}

Records with_slow_source() {
  auto pipeline = two_stages(1, 1, 1);
  pipeline.source = 5'000'000;
  return one(pipeline);
}

Records with_uneven_batches() {
  auto pipeline = two_stages(10, 0, 10);
  pipeline.depth = 2;
  pipeline.batches = 300;
  pipeline.scatter = [batch = 0]() mutable { return 0.1 + 0.9 * (batch++ % 3); };
  return one(pipeline);
}

Records with_pauses() {
  auto pipeline = two_stages(10, 1, 10);
  pipeline.pause = 10'000'000;
  return one(pipeline);
}

record::TrialRecord summarised(record::TrialRecord record) {
  record.summary = stats::summarise(*record.single_stream, *record.offline, 8, record.links);
  return record;
}

Records on_shared_cpus() {
  auto record = record_of(two_stages(10, 1, 10), {5});
  record.offline = run(two_stages(15, 1, 15), 4);
  for (auto& stage : record.stages) stage.cpus = "3";
  return {summarised(record)};
}

record::TrialRecord three_stages(std::int64_t second_link, std::vector<int> cuts, std::int64_t payload) {
  auto record = record_of({.compute = {2'000'000, 2'000'000, 2'000'000},
                           .link = {1'000'000, second_link, 1000},
                           .delay = {0, 0, 0},
                           .batches = 60,
                           .warmup = 10},
                          std::move(cuts));
  record.links[1].payload_bytes = payload;
  return summarised(record);
}

Records without_any_time() {
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
  return {summarised(record)};
}

Records disagreeing() {
  return {record_of(two_stages(6, 32, 14), {2}, 0), record_of(two_stages(6, 30, 14), {2}, 1),
          record_of(two_stages(6, 2, 34), {2}, 2)};
}

Records failed_and_invalid() {
  auto invalid = slow_link_sweep()[1];
  invalid.status = record::Status::invalid;
  invalid.failure = record::Failure{"conditions", std::nullopt, "a slow window"};
  return {invalid, make_failure(make_trial(3, 0), "gone"), make_failure(make_trial(3, 1), "gone")};
}

Records in_one_phase(experiment::Phases phases) {
  auto records = slow_link_sweep();
  for (auto& record : records) record = in_phases(std::move(record), phases);
  return records;
}

}  // namespace

TEST_CASE("a sweep is explained as its golden files say, in text and in Markdown") {
  auto records = slow_link_sweep();
  records.push_back(make_failure(records[1].trial, "gone <b>|"));
  records.back().trial.split_points = {3};
  const auto groups = diagnose_all(records);
  const auto text = render::render_text(groups);
  CHECK(text == support::golden("explain/sweep.txt", text));
  const auto markdown = render::render_markdown(groups);
  CHECK(markdown == support::golden("explain/sweep.md", markdown));
}

TEST_CASE("every kind of bottleneck, doubt and baseline is explained as its golden file says") {
  // Tells what crosses a cut after block 4, which was not measured together with 2; and 2 is no place for a second cut.
  const auto heavy = three_stages(9'000'000, {2, 5}, 90'000), light = three_stages(1'000'000, {1, 4}, 10'000),
             outside = three_stages(1'000'000, {1, 2}, 1'000);
  const std::vector<std::pair<const char*, Records>> cases{
      {"blocks are called by their names", with_block_names()},
      {"more in flight than one", with_in_flight(4)},
      {"one in flight is too little", with_in_flight(1)},
      {"too few batches for what is in flight", with_delay_and_few_batches()},
      {"the way back", with_slow_way_back()},
      {"the source", with_slow_source()},
      {"batches that differ", with_uneven_batches()},
      {"time that no part took", with_pauses()},
      {"stages that take their CPUs from each other", on_shared_cpus()},
      {"three stages: a lighter cut lies between its neighbours", {heavy, light, outside}},
      {"three stages: there is no lighter cut", {heavy, outside}},
      {"nothing took any time", without_any_time()},
      {"repetitions that do not agree", disagreeing()},
      {"failed and invalid repetitions", failed_and_invalid()},
      {"not splitting is the fastest", {slow_link_sweep()[1], slow_link_sweep()[4]}},
      {"one batch in flight alone", in_one_phase(experiment::Phases::single_stream)},
      {"several in flight alone", in_one_phase(experiment::Phases::offline)},
      {"beside data parallelism", sweep_with_baseline()},
      {"data parallelism with too little in flight", {sweep_with_baseline(1).back()}}};
  std::string text;
  for (const auto& [name, records] : cases) {
    text += fmt::format("{}== {}\n\n{}", text.empty() ? "" : "\n", name, render::render_text(diagnose_all(records)));
  }
  CHECK(text == support::golden("explain/cases.txt", text));
}
