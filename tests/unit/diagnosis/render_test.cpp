#include <paretopipe/render/render_diagnosis.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <support/message_of.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::render;
using namespace paretopipe::testing;
using support::contains;

TEST_CASE("JSON has the numbers behind the sentences, and only those that are known, as its golden file says") {
  const auto groups = diagnose_all(sweep_with_failure("gone <b>|\xff"));
  const auto text = render_json(groups);
  CHECK(text == support::golden("explain/sweep.json", text));
  const auto json = nlohmann::json::parse(text);
  CHECK(json["groups"][0]["conclusion"] == conclusion(groups.front()));
  const auto& link = json["groups"][0]["configurations"][1];
  CHECK(link["constraints"][0]["bound_image_per_s"].get<double>() == Approx(800.0 / 3));
  CHECK(link["sequential_image_per_s"].get<double>() == Approx(8 / 50e-3).epsilon(0.01));
}

TEST_CASE("what a link took is shown with its clock error where two clocks were read, and plainly where it was one") {
  auto records = slow_link_sweep();
  for (auto& record : records) {
    record.stages.resize(static_cast<std::size_t>(record.trial.stage_count()));
    record.clocks.resize(record.stages.size());
  }
  CHECK_FALSE(contains(render_text(diagnose_all(records)), "two clocks"));
  CHECK_FALSE(contains(render_json(diagnose_all(records)), "clock_error_ns"));
  for (auto& record : records) record.clocks[1] = {false, -51, -52, 400'000};
  const auto groups = diagnose_all(records);
  CHECK(contains(render_text(groups), " ± 400 us (two clocks)"));
  CHECK(contains(render_markdown(groups), " ± 400 us (two clocks)"));
  const auto links = nlohmann::json::parse(render_json(groups))["groups"][0]["configurations"][1]["links"];
  for (const auto& link : links) CHECK(link["clock_error_ns"] == 400'000);
}

TEST_CASE("no constraint of a pipeline that takes no time has a bound, for infinity is no number") {
  auto instant = two_stages(0, 0, 0);
  instant.link[1] = 0;
  instant.source = 1000;
  const auto text = render_json(diagnose_all({record_of(instant, {5})}));
  const auto json = nlohmann::json::parse(text)["groups"][0]["configurations"][0];
  CHECK(json["bottleneck"]["kind"] == "source");
  CHECK_FALSE(json["constraints"].back().contains("bound_image_per_s"));
  CHECK_FALSE(contains(text, "null"));
}

TEST_CASE("only what was asked for is shown, without a conclusion on all") {
  const auto records = sweep_with_failure();
  const auto groups = diagnose(records, {records[1].trial.id()});
  const auto text = render_text(groups);
  CHECK(contains(text, "resnet18, batch 8, depth 4"));
  CHECK(contains(text, "\n2/10: Bound by the link from stage 0 to stage 1 at"));
  CHECK(contains(text, "A cut after block 5 instead"));  // what is not shown is compared with
  CHECK_FALSE(contains(text, "5/10"));
  CHECK_FALSE(contains(text, "Conclusion"));
  CHECK_FALSE(nlohmann::json::parse(render_json(groups))["groups"][0].contains("conclusion"));
}

TEST_CASE("text has the headline and at most five remarks of a split, JSON all there is to say") {
  const auto groups = diagnose_all(sweep_with_baseline());
  const auto& group = groups.front();
  const auto json = nlohmann::json::parse(render_json(groups))["groups"][0]["configurations"];
  const auto text = render_text(groups);
  for (std::size_t i = 0; i < group.configurations.size(); ++i) {
    const auto all = remarks(group, group.configurations[i]);
    std::size_t shown = 0;
    for (const auto& remark : all) shown += contains(text, "  - " + remark) ? 1 : 0;
    CHECK(shown >= std::min<std::size_t>(all.size(), 5));
    REQUIRE(json[i]["sentences"].size() == all.size() + 1);
    CHECK(json[i]["sentences"][0] == headline(group, group.configurations[i]));
    CHECK(json[i]["sentences"].back() == all.back());
  }
  CHECK_FALSE(contains(text, remarks(group, *group.measured({{2}})).back()));
  CHECK(render_text({}).empty());
}

TEST_CASE("steps that are faster than their schedule's bound are said to be too few, and no share of it is claimed") {
  const auto groups = diagnose_all(slow_link_sweep());
  auto one = groups.front().configurations.front();
  one.step = StepDemands{.sample_per_s = 96, .bound_sample_per_s = 100, .batch = 4, .stages = {{}, {}}};
  CHECK(headline(groups.front(), one) ==
        "A step of 4 samples takes 41.7 ms (96 image/s); its schedule could reach 100 image/s (96 %).");
  CHECK_FALSE(contains(fmt::format("{}", fmt::join(remarks(groups.front(), one), " ")), "too few"));
  one.step->sample_per_s = 125;
  CHECK(headline(groups.front(), one) ==
        "A step of 4 samples takes 32.0 ms (125 image/s); its schedule could reach 100 image/s.");
  CHECK(contains(fmt::format("{}", fmt::join(remarks(groups.front(), one), " ")), "too few were measured"));
}

TEST_CASE("data parallelism is shown beside the splits, but not diagnosed") {
  const auto groups = diagnose_all(sweep_with_baseline());
  CHECK(contains(conclusion(groups.front()), "The highest throughput measured is 727 image/s"));
  const auto json = nlohmann::json::parse(render_json(groups))["groups"][0]["configurations"];
  for (const auto& one : json) {
    const bool split = !one.at("split_points").empty();
    CHECK(one.contains("bottleneck") == split);
    CHECK(one.contains("speed_up_data_parallel") == split);
  }
  CHECK(json.back().at("label") == "data-parallel on 2 devices");
}

namespace {

using Records = std::vector<record::TrialRecord>;

Records with_block_names() {
  auto records = slow_link_sweep();
  records[2].stages[0].blocks = {0, 5};
  records[2].stages[0].last_block = "layer2.0\n";  // an archive's author may call it anything
  return {records[1], records[2], records[3]};
}

/// Two stages with something changed.
Records with(std::int64_t first_ms, std::int64_t link_ms, std::int64_t second_ms, void (*change)(Pipeline&)) {
  auto pipeline = two_stages(first_ms, link_ms, second_ms);
  change(pipeline);
  return {record_of(pipeline, {5})};
}

void few_batches_over_long_links(Pipeline& pipeline) {
  pipeline.delay = {100'000'000, 100'000'000};
  pipeline.batches = 8;
  pipeline.warmup = 4;
}

void uneven_batches(Pipeline& pipeline) {
  pipeline.depth = 2;
  pipeline.batches = 300;
  pipeline.scatter = [batch = 0]() mutable { return 0.1 + 0.9 * (batch++ % 3); };
}

Records on_shared_cpus() {
  auto record = record_of(two_stages(10, 1, 10), {5});
  record.offline = run(two_stages(15, 1, 15), 4);
  for (auto& stage : record.stages) stage.cpus = "3";
  return {summarised(record)};
}

Records on_one_cpu() {
  auto idle = two_stages(10, 1, 10), busy = two_stages(15, 1, 10);
  idle.codec = busy.codec = {2'000'000, 0};
  auto record = record_of(idle, {5});
  record.offline = run(busy, 4);
  record.stages[0].cpus = "3";
  return {summarised(record)};
}

void encoding_and_waiting(Pipeline& pipeline) {
  pipeline.codec = {8'000'000, 0};
  pipeline.taking = 7'000'000;
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
  const auto groups = diagnose_all(sweep_with_failure("gone <b>|"));
  const auto text = render::render_text(groups);
  CHECK(text == support::golden("explain/sweep.txt", text));
  const auto markdown = render::render_markdown(groups);
  CHECK(markdown == support::golden("explain/sweep.md", markdown));
}

TEST_CASE("a cut is no lighter for what the codec of another cut makes of its tensor") {
  const auto text_with = [](const char* codec) {
    auto heavy = three_stages(9'000'000, {2, 5}, 90'000), other = three_stages(1'000'000, {4, 7}, 90'000);
    other.links[0].payload_bytes = 1000;
    heavy.trial.codec = other.trial.codec = codec;
    return render::render_text(diagnose_all({heavy, other}));
  };
  CHECK(contains(text_with("none"), "A cut after block 4 instead"));
  CHECK_FALSE(contains(text_with("none/sort8"), "A cut after block 4 instead"));
}

TEST_CASE("every kind of bottleneck, doubt and baseline is explained as its golden file says") {
  // Tells what crosses a cut after block 4, which was not measured together with 2; and 2 is no place for a second cut.
  const auto heavy = three_stages(9'000'000, {2, 5}, 90'000), light = three_stages(1'000'000, {1, 4}, 10'000),
             outside = three_stages(1'000'000, {1, 2}, 1'000);
  const std::vector<std::pair<const char*, Records>> cases{
      {"blocks are called by their names", with_block_names()},
      {"more in flight than one", with(10, 5, 10, [](auto& pipeline) { pipeline.depth = 4; })},
      {"a thread that encodes and waits for the kernel", with(10, 5, 10, encoding_and_waiting)},
      {"a codec on the only CPU", on_one_cpu()},
      {"a codec takes longest", with(10, 5, 10,
                                     [](auto& pipeline) {
                                       pipeline.codec = {20'000'000, 0};
                                     })},
      {"one in flight is too little", with(10, 5, 10, [](auto& pipeline) { pipeline.depth = 1; })},
      {"too few batches for what is in flight", with(1, 1, 1, few_batches_over_long_links)},
      {"the way back", with(1, 1, 1, [](auto& pipeline) { pipeline.link[1] = 5'000'000; })},
      {"the source", with(1, 1, 1, [](auto& pipeline) { pipeline.source = 5'000'000; })},
      {"batches that differ", with(10, 0, 10, uneven_batches)},
      {"time that no part took", with(10, 1, 10, [](auto& pipeline) { pipeline.pause = 10'000'000; })},
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
