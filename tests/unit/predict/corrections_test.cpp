#include <paretopipe/analysis/predict/corrections.hpp>
#include <paretopipe/core/error.hpp>

#include <chrono>
#include <cmath>
#include <random>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "profiles.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using predict::Corrections;
using predict::Question;
using record::TrialRecord;
using support::contains;

namespace {

constexpr int kFittedBlocks = 24;

Question two_devices() {
  return question_of({std::vector<int>(kFittedBlocks, 20), std::vector<int>(kFittedBlocks, 15)});
}

/// What a pipeline with these corrections would measure, times `noise()`.
template <class Noise>
std::vector<TrialRecord> measured_with(const Corrections& truth, const std::vector<int>& splits, Noise noise) {
  auto question = two_devices();
  question.corrections = truth;
  std::vector<TrialRecord> records;
  for (const int split : splits) {
    const auto predicted = predict_split(question, {{split}});
    auto& record = records.emplace_back();
    record.trial.model = "m";
    record.trial.batch = 2;
    record.trial.block_count = kFittedBlocks;
    record.trial.split_points = {split};
    record.trial.depth = question.depth;
    record.status = record::Status::ok;
    record.summary.emplace();
    record.summary->latency.emplace().p50_ns = predicted.latency_ns.value * noise();
    record.summary->throughput_image_per_s = predicted.throughput_image_per_s.value * noise();
  }
  return records;
}

double exactly() {
  return 1;
}

const Corrections kTruth{.idle_pace = 1.08, .busy_pace = 1.03, .hand_over_ns = 0.4 * kMs, .contention = 0.12};

}  // namespace

TEST_CASE(
    "what a pipeline adds to its profiles is found from a few splits, and one that was disturbed changes nothing") {
  auto records = measured_with(kTruth, {0, 3, 8, 12, 17, 20, 24}, exactly);
  for (const bool disturbed : {false, true}) {
    CAPTURE(disturbed);
    if (disturbed) {
      records[2].summary->latency->p50_ns *= 1.5;
      *records[2].summary->throughput_image_per_s /= 1.5;
    }
    const auto fitted = predict::fit(two_devices(), records);
    CHECK(fitted.idle_pace == Approx(kTruth.idle_pace).epsilon(1e-3));
    CHECK(fitted.busy_pace == Approx(kTruth.busy_pace).epsilon(1e-3));
    CHECK(fitted.hand_over_ns == Approx(kTruth.hand_over_ns).epsilon(0.02));
    CHECK(fitted.contention == Approx(kTruth.contention).epsilon(0.02));
    CHECK(fitted.splits == 7);
    CHECK((fitted.latency_spread > 0.2) == disturbed);
    CHECK((fitted.throughput_spread > 0.2) == disturbed);
  }
}

TEST_CASE(
    "what predictions may be too bad by grows with splits that are better than predicted, and not with those that are "
    "worse") {
  for (const bool better : {false, true}) {
    CAPTURE(better);
    auto records = measured_with(kTruth, {0, 3, 8, 12, 17, 20, 24}, exactly);
    records[2].summary->latency->p50_ns *= better ? 0.8 : 1.25;
    *records[4].summary->throughput_image_per_s *= better ? 1.25 : 0.8;
    auto question = two_devices();
    question.corrections = predict::fit(question, records);
    const auto margins = predict::margins_of(predict::verify(question, records).splits);
    CHECK((margins.latency > 0.2) == better);
    CHECK((margins.throughput > 0.2) == better);
    CHECK((margins.latency < 0.01) != better);
    CHECK((margins.throughput < 0.01) != better);
  }
}

TEST_CASE("of splits that were not fitted, nine in ten or more are in the bands that a few noisy ones gave") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(1, 0.02);
  const auto noisy = [&] { return noise(random); };
  int held_out = 0, in_band = 0, within_margins = 0;
  for (int draw = 0; draw < 200; ++draw) {
    auto question = two_devices();
    const auto measured = measured_with(kTruth, {0, 5, 11, 14, 19, 24}, noisy);
    question.corrections = predict::fit(question, measured);
    const auto margins = predict::margins_of(predict::verify(question, measured).splits);
    const auto others = measured_with(kTruth, {2, 7, 10, 13, 16, 22}, noisy);
    const auto verification = predict::verify(question, others);
    held_out += 12;
    in_band += static_cast<int>(std::lround(12 * verification.in_band));
    CHECK(verification.median_error < 0.1);
    for (const auto& split : verification.splits) {
      const double too_low = split.throughput_image_per_s / split.predicted.throughput_image_per_s.value - 1;
      within_margins += (split.latency_error() <= margins.latency ? 1 : 0) + (too_low <= margins.throughput ? 1 : 0);
    }
  }
  CHECK(in_band >= 0.9 * held_out);
  CHECK(in_band < held_out);
  CHECK(within_margins >= 0.9 * held_out);
  CHECK(within_margins < held_out);
}

TEST_CASE("a pipeline is fitted to trials over its own network, or else over any, and to no less than four splits") {
  auto records = measured_with(kTruth, {0, 5, 11, 14, 19}, exactly);
  auto elsewhere = two_devices();
  elsewhere.network = experiment::NetworkProfile{"far", {}, {}};
  elsewhere.network->forward.delay = std::chrono::milliseconds(5);
  CHECK(predict::fit(elsewhere, records).contention == Approx(kTruth.contention).epsilon(0.02));
  records.resize(3);
  const auto said = support::message_of<UsageError>([&] { predict::fit(two_devices(), records); });
  CHECK(contains(said, "fit a pipeline to 3 measured splits"));
}

TEST_CASE("without enough splits that a stage bounds, the pace alone is that of one batch, and nothing contends") {
  auto question = two_devices();
  question.profiles.front().links.front().rate_bit_per_s = 1e6;  // the link bounds every cut
  auto records = measured_with(kTruth, {3, 5, 11, 14, 24}, exactly);
  for (auto& record : records) {
    const auto split = predict_split(question, record.trial.cut());
    record.summary->latency->p50_ns = split.latency_ns.value;
    record.summary->throughput_image_per_s = split.throughput_image_per_s.value;
  }
  const auto fitted = predict::fit(question, records);
  CHECK(fitted.contention == 0);
  CHECK(fitted.busy_pace == fitted.idle_pace);
  CHECK(fitted.idle_pace == Approx(1).epsilon(1e-3));
}

TEST_CASE("a link that is predicted much too long for one split decides nothing about how fast stages are") {
  auto question = two_devices();
  question.profiles.front().links.front().rate_bit_per_s = 1e6;
  auto records = measured_with(kTruth, {3, 5, 11, 14, 19}, exactly);
  for (auto& record : records) {
    const auto split = predict_split(question, record.trial.cut());
    const double link = split.link_ns.front().value;
    REQUIRE(link > 0.5 * split.latency_ns.value);
    record.summary->latency->p50_ns =
        split.latency_ns.value - (record.trial.split_points.front() == 11 ? 0.9 : 0) * link;
  }
  CHECK(predict::fit(question, records).idle_pace == Approx(1).epsilon(0.02));
}

TEST_CASE("where cuts differ too little to tell a pace from a hand-over, noise does not decide between them") {
  std::vector<int> alike(kFittedBlocks, 20);
  alike[9] = 23;
  const auto question = question_of({std::vector<int>(kFittedBlocks, 20), alike});
  auto records = measured_with(kTruth, {6, 8, 10, 12}, exactly);
  const std::vector noise{0.99, 1.01, 1.01, 0.99};
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto split = predict_split(question, records[i].trial.cut());
    records[i].summary->latency->p50_ns = split.latency_ns.value * 1.1 * noise[i];
  }
  const auto fitted = predict::fit(question, records);
  CHECK(fitted.idle_pace == Approx(1.1).epsilon(0.02));
  CHECK(fitted.hand_over_ns == 0);
}
