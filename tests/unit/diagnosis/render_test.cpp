#include <paretopipe/render/diagnosis_sentences.hpp>
#include <paretopipe/render/render_diagnosis.hpp>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "sweeps.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::render;
using namespace paretopipe::testing;
using support::contains;

namespace {

std::vector<record::TrialRecord> sweep_with_failure() {
  auto records = slow_link_sweep();
  records.push_back(make_failure(records[1].trial, "gone <b>|\xff"));
  records.back().trial.split_points = {3};
  return records;
}

}  // namespace

TEST_CASE("JSON has the numbers behind the sentences, and only those that are known") {
  const auto groups = diagnose_all(sweep_with_failure());
  const auto json = nlohmann::json::parse(render_json(groups));
  CHECK(json["schema"] == 1);
  REQUIRE(json["groups"].size() == 1);
  const auto& group = json["groups"][0];
  CHECK(group["settings"]["model"] == "resnet18");
  CHECK(group["conclusion"] == conclusion(groups.front()));
  REQUIRE(group["configurations"].size() == 6);
  const auto& link = group["configurations"][1];
  CHECK(link["split_points"] == std::vector{2});
  CHECK(link["bottleneck"]["kind"] == "link");
  CHECK(link["bottleneck"]["stage"] == 0);
  CHECK(link["bottleneck"]["repetitions_agreeing"] == 1);
  CHECK(link["constraints"][0]["bound_image_per_s"].get<double>() == Approx(800.0 / 3));
  CHECK(link["reached"].get<double>() == Approx(1));
  CHECK(link["links"][0]["busy_mean_ns"].get<double>() == Approx(30e6));
  CHECK(link["links"][0]["payload_bytes"] == 320'000);
  CHECK_FALSE(link["links"][0].contains("rate_bit_per_s"));
  CHECK(link["stages"][1]["utilisation"].get<double>() == Approx(14.0 / 30).epsilon(0.01));
  CHECK(link["sentences"].size() == 7);  // of which text has the headline and five remarks
  CHECK(link["speed_up_single"].get<double>() == Approx(2.0 / 3).epsilon(0.01));
  CHECK(link["speed_up_sequential"].get<double>() ==
        Approx(link["throughput_image_per_s"].get<double>() / link["sequential_image_per_s"].get<double>()));
  CHECK(link["sequential_image_per_s"].get<double>() == Approx(8 / 50e-3).epsilon(0.01));
  const auto& failed = group["configurations"][2];
  CHECK(failed["repetitions_failed"] == 1);
  CHECK(failed["reasons"].size() == 1);
  CHECK_FALSE(failed.contains("bottleneck"));
  CHECK_FALSE(failed.contains("throughput_image_per_s"));
  CHECK_FALSE(failed.contains("speed_up_single"));
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
  CHECK_FALSE(contains(text, remarks(group, *group.measured({2})).back()));
  CHECK(render_text({}).empty());
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
