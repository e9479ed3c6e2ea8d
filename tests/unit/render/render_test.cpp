#include <paretopipe/render/frontier_words.hpp>
#include <paretopipe/render/render_frontier.hpp>
#include <paretopipe/render/table.hpp>

#include <sstream>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <support/message_of.hpp>

#include "../frontier/measured.hpp"
#include "sweep.hpp"

using namespace paretopipe;
using support::contains;
using support::golden;
using testing::row_of;

namespace {

frontier::FrontierReport rendered_report_of(const std::vector<record::TrialRecord>& records,
                                            const std::vector<std::string>& objectives = {}) {
  return frontier::make_frontier_report(records, frontier::parse_objectives(objectives));
}

std::vector<record::TrialRecord> sweep_over_two_networks() {
  auto records = testing::sweep();
  for (auto slow : testing::sweep()) {
    slow.trial.network.name = "slow";
    slow.trial.network.forward.delay = std::chrono::milliseconds(20);
    records.push_back(slow);
  }
  return records;
}

}  // namespace

TEST_CASE(
    "every group has a frontier of its own, and rows know their place on it, what dominates them and what failed") {
  const auto report = rendered_report_of(testing::sweep());
  REQUIRE(report.groups.size() == 2);
  CHECK(report.groups[0].rows.size() == 6);
  REQUIRE(report.groups[1].rows.size() == 1);
  CHECK(report.groups[1].rows[0].on_frontier);
  CHECK(row_of(report, 10).on_frontier);  // least latency
  CHECK(row_of(report, 3).on_frontier);   // most throughput
  REQUIRE(row_of(report, 0).dominated_by.has_value());
  const auto& dominator = report.groups[0].rows[*row_of(report, 0).dominated_by];
  CHECK(dominator.on_frontier);
  CHECK(*dominator.values[0] <= *row_of(report, 0).values[0]);
  CHECK(*dominator.values[1] >= *row_of(report, 0).values[1]);
  CHECK(row_of(report, 3).configuration.failed.size() == 1);
  CHECK_FALSE(row_of(report, 6).on_frontier);
  CHECK_FALSE(row_of(report, 6).complete());
  CHECK(row_of(report, 6).failures == std::vector<std::string>{"run, stage 1: killed by signal 9"});
}

TEST_CASE("nothing is said of repetitions where no split was compared") {
  const auto report = rendered_report_of({testing::make_failure(testing::make_trial(3), "gone")});
  CHECK(render::legend(report, report.groups.at(0)).empty());
}

TEST_CASE("a split that lacks an objective is not compared, and the text says so") {
  const auto report = rendered_report_of(testing::sweep(), {"goodput", "latency_p50"});
  CHECK_FALSE(row_of(report, 10).complete());
  CHECK_FALSE(row_of(report, 10).on_frontier);
  const auto text = render::render_text(report, {});
  CHECK(contains(text, "split 10/10 all local has no goodput and was not compared"));
}

TEST_CASE("every format is what its golden file says") {
  const auto report = rendered_report_of(testing::sweep());
  for (const auto& [ending, text] :
       {std::pair("txt", render::render_text(report, {.width = 80, .colour = false, .unicode = true})),
        {"csv", render::render_csv(report)},
        {"json", render::render_json(report)},
        {"md", render::render_markdown(report)}}) {
    CHECK(text == golden(std::string("report/frontier.") + ending, text));
  }
}

TEST_CASE("a payload objective does not appear twice") {
  const auto report = rendered_report_of(testing::sweep(), {"payload", "latency_p50"});
  const auto csv = render::render_csv(report);
  const auto heading = csv.substr(0, csv.find('\n'));
  REQUIRE(contains(heading, ",payload_bytes,"));
  CHECK(heading.find(",payload_bytes,") == heading.rfind(",payload_bytes,"));
  const auto text = render::render_markdown(report);
  const auto first = text.find("| payload |");
  REQUIRE(first != std::string::npos);
  CHECK(text.find("| payload |", first + 1) > text.find("| 10 local"));
}

TEST_CASE("one objective needs no plot, and three are drawn in the first two") {
  CHECK_FALSE(contains(render::render_text(rendered_report_of(testing::sweep(), {"latency_p50"}), {}), "is better"));
  const auto text =
      render::render_text(rendered_report_of(testing::sweep(), {"latency_p50", "throughput", "payload"}), {});
  CHECK(contains(text, "latency_p50 (less is better)"));
  CHECK(contains(text, "throughput (more is better)"));
}

TEST_CASE("no table is wider than the terminal, and what is left out for it is named") {
  const auto records = sweep_over_two_networks();
  const std::vector<std::string> many{"latency_p50", "throughput", "payload", "peak_rss", "goodput", "bubble", "queue"};
  for (const auto& objectives : {std::vector<std::string>{}, many}) {
    const auto report = rendered_report_of(records, objectives);
    for (const int width : {80, 100}) {
      std::istringstream text(render::render_text(report, {.width = width, .colour = false, .unicode = true}));
      int rules = 0;
      for (std::string line; std::getline(text, line);) {
        if (!line.starts_with("──")) continue;
        ++rules;
        CHECK(render::display_width(line) <= static_cast<std::size_t>(width));
      }
      CHECK(rules >= 5);
    }
  }
  CHECK(contains(render::render_text(rendered_report_of(records), {}),
                 "Left out for want of room: payload, x sequential, x single, repetitions."));
  const auto roomy = render::render_text(rendered_report_of(records), {.width = 200, .colour = false, .unicode = true});
  CHECK_FALSE(contains(roomy, "Left out"));
  CHECK(contains(roomy, "1 ok, 1 failed"));
}

TEST_CASE("hostile names neither drive the terminal nor break the tables") {
  auto trial = testing::make_trial(3);
  trial.model = "a|b\n\x1b[2J<script>`x`";
  const std::vector<record::TrialRecord> records{testing::make_record(trial, {5000, 4000, 3000, 2000}, 8000)};
  const auto report = rendered_report_of(records);
  CHECK_FALSE(contains(render::render_text(report, {}), "\x1b"));
  const auto markdown = render::render_markdown(report);
  CHECK(contains(markdown, "### a\\|b??\\[2J\\<script\\>\\`x\\`, batch 8"));
  CHECK(contains(render::render_csv(report), "\"a|b\n"));
  CHECK(nlohmann::json::parse(render::render_json(report))["groups"][0]["settings"]["model"] == trial.model);
}

TEST_CASE("no records make an empty report in every format") {
  const auto report = rendered_report_of({});
  CHECK(render::render_text(report, {}).empty());
  CHECK(render::render_csv(report).empty());
  CHECK(render::render_markdown(report).empty());
  CHECK(nlohmann::json::parse(render::render_json(report)).at("groups").empty());
}

TEST_CASE("groups that differ in their network only are told to move, in text and in Markdown") {
  CHECK_FALSE(contains(render::render_text(rendered_report_of(testing::sweep()), {}), "How the frontier moves"));
  const auto report = rendered_report_of(sweep_over_two_networks());
  REQUIRE(report.groups.size() == 4);
  const auto text = render::render_text(report, {.width = 100});
  CHECK(contains(text, "How the frontier moves with the network: resnet18"));
  CHECK(contains(text, "20.0 ms"));
  CHECK(contains(text, "10: 18.1 ms"));  // the best latency, with its split
  CHECK(contains(render::render_markdown(report), "| slow | forward 20.0 ms; backward unshaped |"));
}

TEST_CASE("a codec on the frontier that changes what the model says is named, with how many classes it keeps") {
  auto records = testing::sweep();
  CHECK_FALSE(contains(render::render_text(rendered_report_of(records), {}), "Codecs change"));
  for (auto& record : records) {
    if (record.trial.split_points != std::vector{10}) continue;
    record.trial.codec = "sort4";
    record.fidelity->top1_agreement = 0.14;
    record.summary->latency->p50_ns = 1;
  }
  const auto report = rendered_report_of(records);
  const auto said = "The share of samples that keep their class, least first: 10 sort4 14 %.";
  CHECK(contains(render::render_text(report, {.width = 200}), said));
  CHECK(contains(render::render_markdown(report), said));
  CHECK(contains(render::render_markdown(report), "top-1 kept"));
  const auto splits = nlohmann::json::parse(render::render_json(report)).at("groups")[0].at("splits");
  CHECK(std::ranges::count_if(splits, [](const auto& split) { return split.contains("top1_agreement"); }) == 1);
}

TEST_CASE("invalid repetitions are shown with their reason and enter no number") {
  auto records = testing::sweep();
  const auto before = row_of(rendered_report_of(records), 10).values;
  auto invalid = records[10];
  invalid.trial.repetition = 7;
  invalid.status = record::Status::invalid;
  invalid.failure = record::Failure{"network", std::nullopt, "the round trip is 23 ms"};
  invalid.summary->latency->p50_ns = 1;
  records.push_back(invalid);
  const auto report = rendered_report_of(records);
  CHECK(row_of(report, 10).values == before);
  const auto text = render::render_text(report, {.width = 120});
  CHECK(contains(text, "2 ok, 1 invalid"));
  CHECK(contains(text, "does not count in 1 of 3 repetitions: network: the round trip is 23 ms"));
}
