#include <paretopipe/analysis/diagnosis/diagnosis.hpp>
#include <paretopipe/render/render_diagnosis.hpp>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::testing;

TEST_CASE("a group knows its baseline, its fastest split, and every split with a result") {
  const auto groups = diagnose_all(sweep_with_failure());
  REQUIRE(groups.size() == 1);
  const auto& group = groups.front();
  CHECK(group.configurations.size() == 6);
  CHECK(group.measured_count() == 5);
  CHECK(group.all_wanted());
  REQUIRE(group.all_local() != nullptr);
  CHECK(group.all_local()->trial().all_local());
  REQUIRE(group.fastest() != nullptr);
  CHECK(group.fastest()->trial().split_points == std::vector{5});
  CHECK(group.measured({{8}}) != nullptr);
  CHECK(group.measured({{3}}) == nullptr);
  CHECK(group.measured({{4}}) == nullptr);
  const auto failed = diagnose_all({make_failure(make_trial(3), "a\x1b[31m"), make_failure(make_trial(10), "b")});
  REQUIRE(failed.size() == 1);
  CHECK(failed.front().all_local() == nullptr);
  CHECK(failed.front().fastest() == nullptr);
  CHECK(failed.front().measured_count() == 0);
  CHECK(failed.front().configurations.front().reasons.front() == "run, stage 1: a?[31m");
}

TEST_CASE("numbers are medians over the repetitions that count, and those that disagree are counted") {
  auto records = disagreeing();
  records.push_back(make_failure(records[0].trial, "gone"));
  records.back().trial.repetition = 3;
  const auto groups = diagnose_all(records);
  const auto& one = groups.front().configurations.front();
  REQUIRE(one.demands.has_value());
  CHECK(one.demands->links[0].busy.mean_ns == Approx(30e6));
  CHECK(one.bounds.front().kind == Kind::link);
  CHECK(one.agreeing == 2);
  CHECK(one.configuration.ok.size() == 3);
  CHECK(one.reasons == std::vector<std::string>{"run, stage 1: gone"});
}

TEST_CASE("what is wanted of a configuration alone enters its numbers, and the rest is there to compare with") {
  auto records = slow_link_sweep();
  records.push_back(record_of(two_stages(6, 12, 14), {2}, 1));
  auto elsewhere = make_record(make_trial(3), {1000, 1000, 1000, 1000}, 1);
  records.push_back(elsewhere);
  const auto groups = diagnose(records, {records[5].trial.id()});
  REQUIRE(groups.size() == 1);
  const auto* one = groups.front().measured({{2}});
  REQUIRE(one != nullptr);
  CHECK(one->wanted);
  CHECK(one->configuration.count() == 1);
  const auto& latency = record::find_metric("latency_p50");
  CHECK(one->configuration.median(latency) == latency.value(records[5]));
  CHECK(one->demands->links[0].busy.mean_ns == Approx(12e6));
  CHECK_FALSE(groups.front().measured({{5}})->wanted);
  CHECK_FALSE(groups.front().all_wanted());
  CHECK(diagnose(records, {}).empty());
  CHECK(diagnose({}, {"0123456789abcdef"}).empty());
}

using support::contains;

namespace {

/// Cut 2 with a codec that makes a quarter of 320 kB, in 3 ms to encode and 1 ms to decode.
record::TrialRecord with_codec(const Pipeline& pipeline) {
  auto record = with_payload(record_of(pipeline, {2}), 80'000);
  record.trial.codec = "uniform8";
  record.links[0].unencoded_bytes = 320'000;
  for (auto& part : record.summary->breakdown) {
    if (part.part == record::Part::encode && part.stage == 0) part.mean_ns += 3e6;
    if (part.part == record::Part::decode && part.stage == 1) part.mean_ns += 1e6;
  }
  return record;
}

record::TrialRecord plain(const Pipeline& pipeline) {
  return with_payload(record_of(pipeline, {2}), 320'000);
}

std::string sentences(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  std::string all;
  for (const auto& sentence : render::remarks(group, one)) all += sentence + "\n";
  return all;
}

}  // namespace

TEST_CASE("below the break-even rate the bytes that a codec saves take longer than it does") {
  const auto groups = diagnose_all({plain(two_stages(6, 30, 14)), with_codec(two_stages(6, 8, 14))});
  REQUIRE(groups.size() == 1);
  const auto& group = groups.front();
  const auto* one = group.measured({{2}, "uniform8"});
  REQUIRE(one != nullptr);
  const auto effect = codec_effect(group, *one);
  REQUIRE(effect);
  CHECK(effect->plain == group.measured({{2}}));
  CHECK(effect->saved_bytes == 240'000);
  CHECK(effect->added_ns == Approx(4e6));
  CHECK(effect->break_even_bit_per_s == Approx(480e6));
  CHECK_FALSE(effect->encoder_bounds);
  CHECK(contains(sentences(group, *one),
                 "uniform8 saves 234 KiB a batch and takes 4.00 ms to encode and decode: it "
                 "shortens the latency over links of less than 480 Mbit/s."));
  CHECK_FALSE(codec_effect(group, *effect->plain));
  const auto json = nlohmann::json::parse(render::render_json(groups));
  const auto& configurations = json.at("groups")[0].at("configurations");
  CHECK(configurations[1].at("codec_effect").at("break_even_bit_per_s").get<double>() == Approx(480e6));
  CHECK_FALSE(configurations[0].contains("codec_effect"));
}

TEST_CASE("a codec that changes what the model says is explained as that") {
  auto records = std::vector{plain(two_stages(6, 30, 14)), with_codec(two_stages(6, 8, 14))};
  const auto unchanged = diagnose_all(records);
  const auto said = "uniform8 changes the class of 86 % of the samples.";
  CHECK_FALSE(contains(sentences(unchanged.front(), unchanged.front().configurations.back()), said));
  records.back().fidelity->top1_agreement = 0.14;
  const auto changed = diagnose_all(records);
  CHECK(contains(sentences(changed.front(), *changed.front().measured({{2}, "uniform8"})), said));
}

TEST_CASE("a stage that encodes without time to spare makes the throughput fall, and it is said") {
  // The codec itself takes longest, or the compute that it takes the CPU from.
  const bool takes_longest = GENERATE(true, false);
  auto encoding = two_stages(takes_longest ? 14 : 20, 2, 14);
  if (takes_longest) encoding.codec = {20'000'000, 0};
  const auto groups = diagnose_all({plain(two_stages(14, 8, 14)), with_codec(encoding)});
  const auto& group = groups.front();
  const auto* one = group.measured({{2}, "uniform8"});
  CHECK(codec_effect(group, *one)->encoder_bounds);
  CHECK(contains(sentences(group, *one), "Stage 0 encodes and has no time to spare: the throughput falls by 30 %"));
}

TEST_CASE("a stage without a CPU to spare is busy while it computes or encodes, and no time counts twice") {
  auto pipeline = two_stages(10, 2, 5);
  pipeline.codec = {8'000'000, 0};
  auto record = with_codec(pipeline);
  const auto demands_with = [&](const char* cpus) {
    record.stages[0].cpus = cpus;
    return demands_of(record);
  };
  // Both threads work side by side in these moments, as if the one CPU were shared out among them.
  const auto apart = demands_with("0-1"), together = demands_with("0");
  CHECK(apart.stages[0].busy.mean_ns == Approx(10e6));
  CHECK(apart.stages[0].codec.mean_ns == Approx(8e6));
  CHECK(together.stages[0].busy.mean_ns == Approx(10e6));
  CHECK(together.stages[0].codec.mean_ns == 0);
  CHECK(constraints(together).front().period_ns == Approx(together.period_ns()));
  // In turns they add up.
  pipeline = two_stages(10, 2, 20);
  pipeline.codec = {8'000'000, 0};
  record = with_codec(pipeline);
  record.trial.depth = record.offline->depth = 1;
  record.offline = record.single_stream;
  CHECK(demands_with("0").stages[0].busy.mean_ns == Approx(18e6));
}

TEST_CASE("what a codec brings is unknown beside no measurement without one, and nothing where it saves no bytes") {
  const auto alone = diagnose_all({with_codec(two_stages(6, 8, 14))});
  const auto& one = alone.front().configurations.front();
  CHECK(codec_effect(alone.front(), one)->plain == nullptr);
  CHECK(contains(sentences(alone.front(), one), "was not measured without a codec"));
  auto useless = with_codec(two_stages(6, 8, 14));
  useless.links[0].payload_bytes = 320'010;
  const auto groups = diagnose_all({plain(two_stages(6, 8, 14)), useless});
  const auto* same = groups.front().measured({{2}, "uniform8"});
  CHECK_FALSE(codec_effect(groups.front(), *same)->break_even_bit_per_s);
  CHECK(contains(sentences(groups.front(), *same), "uniform8 saves no bytes here, and takes time."));
}
