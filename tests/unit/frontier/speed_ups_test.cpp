#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/render/render_frontier.hpp>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "measured.hpp"

using namespace paretopipe;
using support::contains;
using testing::measured;
using testing::row_of;

namespace {

/// `batch` images every `mean_ms` with one batch in flight.
record::TrialRecord with_mean(record::TrialRecord record, double mean_ms) {
  record.summary->latency->mean_ns = mean_ms * 1e6;
  return record;
}

frontier::FrontierReport speed_up_report_of(const std::vector<record::TrialRecord>& records) {
  return frontier::make_frontier_report(records, frontier::parse_objectives({}));
}

record::TrialRecord local() {
  return with_mean(measured(10, 0, 20, 400), 20);
}

}  // namespace

TEST_CASE("a split's speed-ups are its throughput over all local's, and over its own with one batch in flight") {
  const auto report = speed_up_report_of({with_mean(measured(3, 0, 10, 600), 16), local()});
  CHECK(*row_of(report, 3).speed_ups.single == Approx(1.5));
  CHECK(*row_of(report, 3).speed_ups.sequential == Approx(600 / (8 / 16e-3)));  // a batch is 8 images
  CHECK(*row_of(report, 10).speed_ups.single == 1);
  CHECK(*row_of(report, 10).speed_ups.sequential == Approx(1));
}

TEST_CASE("speed-ups are of medians over the repetitions that count") {
  auto invalid = with_mean(measured(3, 2, 10, 9000), 1);
  invalid.status = record::Status::invalid;
  invalid.failure = record::Failure{"network", std::nullopt, "too slow"};
  const auto report = speed_up_report_of(
      {with_mean(measured(3, 0, 10, 600), 16), with_mean(measured(3, 1, 10, 1000), 16), invalid, local()});
  CHECK(*row_of(report, 3).speed_ups.single == Approx(2));
}

TEST_CASE("without all local in its group, or with one that failed, a split has no speed-up over it") {
  auto elsewhere = local();
  elsewhere.trial.batch = 1;
  auto failed = testing::make_failure(local().trial, "gone");
  for (const auto& other : {elsewhere, failed}) {
    const auto report = speed_up_report_of({with_mean(measured(3, 0, 10, 600), 16), other});
    CHECK_FALSE(row_of(report, 3).speed_ups.single.has_value());
    CHECK(row_of(report, 3).speed_ups.sequential.has_value());
    const auto text = render::render_text(report, {.width = 200});
    CHECK_FALSE(contains(text.substr(0, text.find("\n\n\n")), "x single"));
    CHECK(contains(text, "x sequential"));
  }
}

TEST_CASE("what divides by nothing is no speed-up") {
  const auto report = speed_up_report_of({with_mean(measured(3, 0, 10, 600), 0), measured(10, 0, 20, 0)});
  CHECK_FALSE(row_of(report, 3).speed_ups.single.has_value());
  CHECK_FALSE(row_of(report, 3).speed_ups.sequential.has_value());
}

TEST_CASE("every format has the speed-ups, and says over what they are") {
  const auto report = speed_up_report_of({with_mean(measured(3, 0, 10, 600), 16), local()});
  const auto text = render::render_text(report, {.width = 200});
  CHECK(contains(text, "x single  x sequential"));
  CHECK(contains(text, "1.5 "));
  CHECK(contains(text, "x single: times the whole model's on one device (all local)"));
  CHECK(contains(render::render_markdown(report), "| x single | x sequential |"));
  CHECK(contains(render::render_csv(report), ",speed_up_single,speed_up_sequential,"));
  const auto json = nlohmann::json::parse(render::render_json(report));
  CHECK(json.at("groups").at(0).at("splits").at(0).at("speed_up_single") == 1.5);
}
