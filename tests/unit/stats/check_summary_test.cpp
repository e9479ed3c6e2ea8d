#include <paretopipe/core/error.hpp>
#include <paretopipe/stats/check_summary.hpp>

#include <cmath>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "samples.hpp"

using namespace paretopipe;
using nlohmann::json;
using support::contains;
using testing::make_record;
using testing::make_trial;

namespace {

record::TrialRecord a_record(int split = 3) {
  return make_record(make_trial(split), {9'000'000, 4'000'000, 3'000'000, 20'000}, 8000);
}

std::string complaint_about(const record::TrialRecord& record) {
  return support::message_of<UsageError>([&] { stats::check_summary(record); });
}

}  // namespace

TEST_CASE("a summary that follows from its samples passes, at the endpoints too, before and after a file") {
  for (const int split : {0, 3, 10}) {
    CAPTURE(split);
    CHECK_NOTHROW(stats::check_summary(a_record(split)));
    CHECK_NOTHROW(stats::check_summary(json::parse(json(a_record(split)).dump()).get<record::TrialRecord>()));
  }
  CHECK_NOTHROW(stats::check_summary(testing::make_failure(make_trial(3), "nothing was measured")));
}

TEST_CASE("whichever number of a summary was edited by hand, it is refused by its name") {
  const auto flat = json(*a_record().summary).flatten();
  for (const auto& [place, value] : flat.items()) {
    if (!value.is_number()) continue;
    auto edited = flat;
    edited[place] = value.get<double>() + 1;
    auto record = a_record();
    record.summary = edited.unflatten().get<record::Summary>();
    CAPTURE(place);
    CHECK(contains(complaint_about(record), "\"summary" + place + "\" is "));
  }
}

TEST_CASE("the last digit of another compiler's arithmetic is no damage") {
  auto record = a_record();
  auto& throughput = record.summary->throughput_image_per_s;
  throughput = std::nextafter(throughput, 0.0);
  CHECK_NOTHROW(stats::check_summary(record));
  throughput *= 1 + 1e-8;
  CHECK(contains(complaint_about(record), "throughput_image_per_s"));
}

TEST_CASE("samples that were edited by hand are refused") {
  auto record = a_record();
  record.single_stream->results.completed.back() += 1'000'000;
  CHECK(contains(complaint_about(record), "was it edited by hand?"));
  record = a_record();
  record.offline->stages[1].compute_end.pop_back();
  CHECK(contains(complaint_about(record), "damaged"));
  record = a_record();
  record.single_stream->warmup = 1;
  CHECK(contains(complaint_about(record), "\"single_stream\" has 10 batches, 1 of them to warm up"));
  record = a_record();
  record.offline->chunks = 2;
  CHECK(contains(complaint_about(record), "\"offline\" has batches of 2 chunks, and its trial asks for 1"));
  record = a_record();
  record.trial.micro_batch = 4;
  CHECK(contains(complaint_about(record), "\"single_stream\" has batches of 1 chunks, and its trial asks for 2"));
  record = a_record();
  record.summary->breakdown.pop_back();
  CHECK(contains(complaint_about(record), "missing"));
}
