#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/render/frontier_words.hpp>
#include <paretopipe/render/render_frontier.hpp>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <support/message_of.hpp>

#include "measured.hpp"

using namespace paretopipe;
using support::contains;
using testing::measured;
using testing::row_of;

namespace {

using Records = std::vector<record::TrialRecord>;

frontier::FrontierReport constrained_report_of(const Records& records, const std::vector<std::string>& constraints = {},
                                               const std::vector<std::string>& reference = {}) {
  const auto objectives = frontier::parse_objectives({});
  return frontier::make_frontier_report(records, objectives,
                                        {.constraints = frontier::parse_constraints(constraints),
                                         .reference = frontier::parse_reference(reference, objectives)});
}

std::string headline_of(const Records& records) {
  const auto report = constrained_report_of(records);
  return render::headline(report, report.groups.front());
}

/// The split of a row of the first group.
int split_of(const frontier::FrontierReport& report, std::size_t row) {
  return report.groups.front().rows[row].configuration.trial.split_points.front();
}

/// Twice, so that there is an interval, of no width.
void add(Records& records, int split, double latency_ms, double throughput, const std::string& network = "") {
  for (int repetition = 0; repetition < 2; ++repetition) {
    records.push_back(measured(split, repetition, latency_ms, throughput, network));
  }
}

/// A frontier of four: fast, two in between, and much at once; with both endpoints.
Records trade() {
  Records records;
  add(records, 0, 90, 20);
  add(records, 3, 40, 100);
  add(records, 5, 24, 95);
  add(records, 7, 22, 60);
  add(records, 10, 20, 40);
  return records;
}

}  // namespace

TEST_CASE("what is recommended is the best in each objective, the balanced split and the knee") {
  const auto report = constrained_report_of(trade());
  const auto& recommendation = report.groups[0].recommendation.value();
  CHECK(split_of(report, recommendation.best[0]) == 10);
  CHECK(split_of(report, recommendation.best[1]) == 3);
  CHECK(split_of(report, recommendation.balanced.option) == 5);
  CHECK(recommendation.balanced.worst_regret == Approx(0.2));  // 24 ms of 20 ms; the throughput is 5 % from the best
  CHECK(recommendation.balanced.worst_case == 0);
  CHECK(split_of(report, recommendation.knee.value()) == 5);
}

TEST_CASE("the conclusion names the cut, what is best, what not splitting gives and what is not sure") {
  Records either{measured(5, 0, 20, 100), measured(7, 0, 30, 50)};
  Records nearly_endpoints, with_cut, worse_cut, remote, overlapping;
  add(nearly_endpoints, 0, 22, 71.7);  // noise alone tells them apart in one objective
  add(nearly_endpoints, 10, 14, 71.4);
  with_cut = nearly_endpoints;
  add(with_cut, 5, 15, 160);
  add(worse_cut, 5, 24, 95);
  remote = worse_cut;
  add(worse_cut, 10, 20, 120);
  add(remote, 0, 5, 500);
  for (int repetition = 0; repetition < 4; ++repetition) {
    overlapping.push_back(measured(5, repetition, 20 + repetition, 100 + repetition));
    overlapping.push_back(measured(10, repetition, 20.1 + repetition, 99.9 + repetition));
  }
  std::string text;
  for (const auto& records : {trade(), nearly_endpoints, with_cut, worse_cut, remote, overlapping, either,
                              Records{measured(5, 0, 20, 100)}}) {
    text += headline_of(records) + "\n";
  }
  CHECK(text == support::golden("report/conclusions.txt", text));
}

TEST_CASE(
    "a balanced choice that resampling does not keep is not sure, and the conclusion says what it picks instead") {
  Records records;
  for (int repetition = 0; repetition < 6; ++repetition) {
    const double noise = repetition * 0.5 - 1.25;
    records.push_back(measured(5, repetition, 20 + noise, 60));
    records.push_back(measured(7, repetition, 10, 30 + noise));  // either is about twice the other in one objective
  }
  const auto report = constrained_report_of(records);
  const auto& group = report.groups[0];
  const auto& chosen = group.rows[group.recommendation->balanced.option];
  const auto& other = group.rows[1 - group.recommendation->balanced.option];
  CHECK(*chosen.balanced_probability + *other.balanced_probability == Approx(1));
  REQUIRE(*chosen.balanced_probability < 0.95);
  CHECK(contains(render::headline(report, group), "; not sure: " + render::probability(*chosen.balanced_probability)));
  CHECK(row_of(constrained_report_of(trade()), 5).balanced_probability == 1.0);
  CHECK_FALSE(contains(headline_of(trade()), "not sure"));
}

TEST_CASE("constraints exclude before anything is compared, and the rest is as if the excluded were not there") {
  const auto report = constrained_report_of(trade(), {"latency_p50 < 30ms", "throughput > 50"});
  CHECK(row_of(report, 3).violations == std::vector<std::string>{"latency_p50 is 40.0 ms, not latency_p50 < 30.0 ms"});
  CHECK(row_of(report, 0).violations.size() == 2);
  CHECK_FALSE(row_of(report, 3).on_frontier);
  CHECK_FALSE(row_of(report, 3).dominated_by.has_value());
  CHECK_FALSE(row_of(report, 3).frontier_probability.has_value());
  const auto& group = report.groups[0];
  CHECK(split_of(report, group.recommendation->best[0]) == 7);
  CHECK(split_of(report, group.recommendation->best[1]) == 5);
  CHECK(group.reference == std::vector<double>{24e6, 60});
  CHECK(contains(render::render_text(report, {}), "split 3/10 is excluded: latency_p50 is 40.0 ms, not"));
  CHECK(contains(render::render_markdown(report), "excluded"));
  CHECK(contains(render::render_csv(report), "latency_p50 < 30.0 ms"));
  const auto json = nlohmann::json::parse(render::render_json(report));
  CHECK(json["constraints"].size() == 2);
  CHECK_FALSE(json["groups"][0]["splits"][1].contains("on_frontier"));
}

TEST_CASE("where no split keeps the constraints, that is the conclusion in every format") {
  const auto report = constrained_report_of(trade(), {"latency_p50 < 1ms"});
  CHECK(render::headline(report, report.groups[0]) ==
        "No split can be recommended: none has all the objectives and keeps latency_p50 < 1.00 ms.");
  CHECK(contains(render::render_text(report, {}), "there is no frontier"));
  CHECK_FALSE(report.groups[0].recommendation.has_value());
  CHECK_FALSE(nlohmann::json::parse(render::render_json(report))["groups"][0].contains("hypervolume"));
  CHECK(contains(render::render_csv(report), "latency_p50 is 20.0 ms"));
  CHECK_FALSE(render::render_markdown(report).empty());
}

TEST_CASE("trials of one phase are recommended by what they have, and say what they lack where it is asked for") {
  const bool offline = GENERATE(true, false);
  const auto phases = offline ? experiment::Phases::offline : experiment::Phases::single_stream;
  const auto cut = testing::make_record(testing::make_trial(3), {5'000'000, 4'000'000, 3'000'000, 2'000'000}, 8000);
  const auto local = testing::make_record(testing::make_trial(10), {9'000'000, 0, 0, 0}, 0);
  const Records records{testing::in_phases(cut, phases), testing::in_phases(local, phases)};
  const auto make = [&](const std::vector<std::string>& objectives, const std::vector<std::string>& constraints) {
    return frontier::make_frontier_report(records,
                                          frontier::parse_objectives(objectives, frontier::measured_phases(records)),
                                          {.constraints = frontier::parse_constraints(constraints), .reference = {}});
  };
  const auto text = [](const frontier::FrontierReport& report) { return render::render_text(report, {.width = 200}); };
  const auto usual = text(make({}, {}));
  INFO(usual);
  CHECK(contains(usual, offline ? "depth 4, offline only," : "batch 8, single-stream only,"));
  CHECK(contains(usual, offline ? ": throughput " : ": latency_p50 "));
  CHECK(contains(usual, "payload 0 B (the best)"));
  CHECK(contains(usual, offline ? "x sequential is left out, for this is offline only."
                                : "Speed-ups over baselines are left out: they compare throughput, and this is "
                                  "single-stream only."));
  const auto* lacking = offline ? "latency_p50" : "throughput";
  const auto asked = text(make({"latency_p50", "throughput"}, {}));
  CHECK(contains(asked, "No split can be recommended: these trials were measured " + experiment::describe(phases) +
                            ", which gives no " + lacking + "; try --objective "));
  CHECK_FALSE(contains(asked, "was not compared"));
  const auto excluded = text(make({"payload"}, {std::string(lacking) + (offline ? " < 1s" : " > 1")}));
  CHECK(contains(excluded,
                 std::string("it has no ") + lacking + " (it was measured " + experiment::describe(phases) + ")"));
}

TEST_CASE("a split that lacks the constraint's metric does not keep it") {
  Records records{measured(5, 0, 10, 10), testing::make_record(testing::make_trial(10), {5000, 0, 0, 0}, 0)};
  const auto report = constrained_report_of(records, {"goodput > 1 B/s"});
  CHECK(row_of(report, 10).violations == std::vector<std::string>{"it has no goodput, so not goodput > 1 B/s"});
  CHECK(row_of(report, 5).violations.empty());
}

TEST_CASE("the hypervolume counts up to the worst measured values, or up to the reference that was given") {
  const auto report = constrained_report_of(trade());
  const auto& group = report.groups[0];
  CHECK(group.reference == std::vector<double>{90e6, 20});
  // By hand, in ms: 10's box, then what 7, 5 and 3 add above it.
  CHECK(group.hypervolume->volume == Approx(1e6 * (70 * 20 + 68 * 20 + 66 * 35 + 50 * 5)));
  CHECK(group.hypervolume->share.value() == Approx(5320.0 / (70 * 80)));
  const auto given = constrained_report_of(trade(), {}, {"latency_p50=100ms"});
  CHECK(given.groups[0].reference == std::vector<double>{100e6, 20});
  CHECK(contains(render::render_text(given, {}), "latency_p50 100 ms (as given), throughput 20 image/s (the worst)"));
  const auto beyond = constrained_report_of(trade(), {}, {"latency_p50=1ms"});
  CHECK(beyond.groups[0].hypervolume->volume == 0);
  CHECK_FALSE(contains(render::render_text(beyond, {}), "Hypervolume"));
}

TEST_CASE("the robust split has the least worst regret over all networks, not splitting included") {
  // All of 3, 5 and 10 are measured over both; 7 is the best by far over the fast one, and not a candidate.
  Records records;
  add(records, 3, 40, 50, "fast");
  add(records, 5, 10, 100, "fast");
  add(records, 10, 25, 40, "fast");
  add(records, 3, 40, 50, "slowest");
  add(records, 5, 50, 45, "slowest");
  add(records, 10, 25, 40, "slowest");
  add(records, 7, 1, 1000, "fast");
  const auto report = constrained_report_of(records);
  REQUIRE(report.families.size() == 1);
  const auto& family = report.families[0];
  REQUIRE(family.candidates.size() == 3);
  // Fast, relative to 7's 1 ms and 1000 image/s: 3 has 39 in latency, 5 has 9 in both, 10 has 24. So 5, by its 9.
  CHECK(split_of(report, family.candidates[*family.robust].rows[0]) == 5);
  CHECK(family.candidates[*family.robust].worst_regret == Approx(9));
  CHECK(family.candidates[2].worst_regret == Approx(24));
  CHECK(family.candidates[2].worst_group == 0);
  const auto sentence = render::robust_headline(report, family);
  CHECK(contains(sentence, "Whatever the network (fast, slowest): cut after block 5, at worst 900 % from the best"));
  CHECK(contains(sentence, "all local is 2400 % from it at worst (latency_p50 over fast)"));
  const auto json = nlohmann::json::parse(render::render_json(report));
  CHECK(json["network_families"][0]["robust"] == std::vector{5});
  CHECK(contains(render::render_csv(report), "robust"));
  CHECK(contains(render::render_text(report, {}), sentence));
  CHECK(contains(render::render_markdown(report), "Whatever the network"));
}

TEST_CASE("the robust split is hedged where another cannot be told from it over any network") {
  Records records;
  for (const auto* network : {"fast", "slowest"}) {
    for (int repetition = 0; repetition < 4; ++repetition) {
      records.push_back(measured(5, repetition, 20 + repetition, 100, network));
      records.push_back(measured(7, repetition, 20.5 + repetition, 100, network));
      records.push_back(measured(9, repetition, 20 + repetition, network == std::string("fast") ? 100 : 90, network));
    }
  }
  const auto report = constrained_report_of(records);
  const auto sentence = render::robust_headline(report, report.families.at(0));
  CHECK(contains(sentence, "cut after block 5, the best everywhere"));
  CHECK(contains(sentence, "; over no network can the repetitions tell it from 7."));
}

TEST_CASE("the robust split keeps the constraints over every network") {
  Records records;
  add(records, 5, 10, 100, "fast");
  add(records, 10, 25, 40, "fast");
  add(records, 5, 90, 90, "slowest");
  add(records, 10, 25, 40, "slowest");
  const auto report = constrained_report_of(records, {"latency_p50 <= 30ms"});
  const auto& family = report.families.at(0);
  REQUIRE(family.candidates.size() == 1);
  CHECK(split_of(report, family.candidates[0].rows[0]) == 10);
  CHECK(contains(render::robust_headline(report, family), "do not split (all local), at worst 150 % from the best"));
  const auto none = constrained_report_of(records, {"latency_p50 <= 1ms"});
  CHECK(contains(render::robust_headline(none, none.families.at(0)), "no split was compared over all of them"));
}

TEST_CASE("a dominated split says by how much, and JSON and CSV have the difference") {
  Records records;
  add(records, 3, 10, 100);
  add(records, 5, 15, 100);
  add(records, 7, 10.14, 50);
  const auto report = constrained_report_of(records);
  const auto& group = report.groups[0];
  CHECK(render::shortfall(report, group, row_of(report, 5)) == "+50% =");
  CHECK(render::shortfall(report, group, row_of(report, 7)) == "+1.4% -50%");
  const auto json = nlohmann::json::parse(render::render_json(report));
  CHECK(json["groups"][0]["splits"][1]["behind"]["latency_p50_ns"] == 5'000'000);
  CHECK(json["groups"][0]["splits"][1]["behind"]["throughput_image_per_s"] == 0);
  CHECK_FALSE(json["groups"][0]["splits"][0].contains("behind"));
}

TEST_CASE("phrases say no more than is known, and lists of splits join neighbours") {
  for (const auto& [share, text] : {std::pair(1.0, "100 %"), {0.9995, ">99 %"}, {0.0005, "<1 %"}, {0.0, "0 %"}}) {
    CHECK(render::probability(share) == text);
  }
  for (const auto& [share, text] : {std::pair(0.0, "0 %"), {0.014, "1.4 %"}, {0.35, "35 %"}}) {
    CHECK(render::percent(share) == text);
  }
  CHECK(render::format_interval({39.04e6, 40.16e6}, 39.6e6, "ns", "-") == "39.0-40.2");
  CHECK(render::format_interval({980e3, 1.5e6}, 1.2e6, "ns", "-") == "980 us-1.50 ms");
  CHECK(render::format_interval({900e3, 990e3}, 1e6, "ns", "-") == "900-990 us");
  CHECK(render::format_interval({0.5, 0.75}, 0.6, "", "-") == "0.5-0.75");
  Records records;
  for (const int split : {0, 1, 2, 3, 5, 7, 8, 10}) add(records, split, 1, 1);
  const auto report = constrained_report_of(records);
  for (const auto& [rows, text] : {std::pair(std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}, "0-10"),
                                   {{0, 1, 4, 6, 7}, "0, 1, 5, 8, 10"},
                                   {{1, 2, 3, 7}, "1-3, 10"},
                                   {{}, ""}}) {
    CHECK(render::split_list(report.groups[0], rows) == text);
  }
}

TEST_CASE("no number in any format is infinite or NaN, whatever is zero") {
  Records records;
  add(records, 3, 0, 0);
  add(records, 5, 10, 0);
  add(records, 10, 0, 100);
  const auto objectives = frontier::parse_objectives({"latency_p50", "throughput", "payload", "max_abs_difference"});
  const auto report = frontier::make_frontier_report(records, objectives);
  for (const auto& text : {render::render_csv(report), render::render_json(report), render::render_text(report, {}),
                           render::render_markdown(report)}) {
    for (const auto* word : {"nan", "NaN", "inf", "Inf", "null"}) CHECK_FALSE(contains(text, word));
  }
}
