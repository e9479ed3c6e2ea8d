#include <paretopipe/analysis/diagnosis/codec_effect.hpp>
#include <paretopipe/render/diagnosis_sentences.hpp>
#include <paretopipe/render/render_diagnosis.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::testing;
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

TEST_CASE("a stage that encodes without time to spare makes the throughput fall, and it is said") {
  const auto groups = diagnose_all({plain(two_stages(14, 8, 14)), with_codec(two_stages(20, 2, 14))});
  const auto& group = groups.front();
  const auto* one = group.measured({{2}, "uniform8"});
  CHECK(codec_effect(group, *one)->encoder_bounds);
  CHECK(contains(sentences(group, *one), "Stage 0 encodes and has no time to spare: the throughput falls by 30 %"));
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
