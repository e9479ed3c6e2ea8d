#include <paretopipe/analysis/predict/verification.hpp>
#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "profiles.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using predict::Question;
using record::TrialRecord;
using support::contains;

namespace {

TrialRecord measured(int split, double latency_ms, double image_per_s) {
  TrialRecord record;
  record.trial.model = "m";
  record.trial.batch = 2;
  record.trial.block_count = 2;
  record.trial.split_points = {split};
  record.trial.depth = 4;
  record.status = record::Status::ok;
  record.summary.emplace();
  record.summary->latency.emplace();
  record.summary->latency->p50_ns = latency_ms * kMs;
  record.summary->throughput_image_per_s = image_per_s;
  return record;
}

/// Of two devices that take 50 ms for each of two blocks; the links add 12.004 ms to a cut.
Question question() {
  return {.profiles = {a_profile({{50, 50}, {50, 50}})}};
}

}  // namespace

TEST_CASE("predictions are held against the medians of what was measured, on the frontier or not") {
  const std::vector<TrialRecord> records{measured(1, 112.004, 40), measured(1, 500, 10), measured(1, 100, 40),
                                         measured(2, 80, 20)};
  const auto verification = predict::verify(question(), records);
  REQUIRE(verification.splits.size() == 2);
  const auto& cut = verification.splits.front();
  CHECK(cut.repetitions == 3);
  CHECK(cut.latency_error() == Approx(0).margin(1e-9));
  CHECK(cut.throughput_error() == Approx(0).margin(1e-9));
  const auto& local = verification.splits.back();
  CHECK(local.predicted.all_local());
  CHECK(local.latency_error() == Approx(0.25));
  CHECK(verification.worst_error == Approx(0.25));
  CHECK(verification.median_error == Approx(0).margin(1e-9));
}

TEST_CASE("what was measured with a codec is held against what is predicted with it, if the question has it") {
  auto asked = question();
  add_codec(asked.profiles.front(), "uniform8", 4, {3}, {2});
  auto coded = measured(1, 109.504, 2 / 0.055);  // 7.5 ms less on the link, and 5 ms of coding
  coded.trial.codec = "uniform8";
  const std::vector<TrialRecord> records{measured(1, 112.004, 40), coded};
  CHECK(predict::verify(asked, records).splits.size() == 1);
  asked.codecs = {"none", "uniform8"};
  const auto verification = predict::verify(asked, records);
  REQUIRE(verification.splits.size() == 2);
  CHECK(verification.splits[1].cut.codec == "uniform8");
  CHECK(verification.splits[1].latency_error() == Approx(0).margin(1e-9));
  CHECK(verification.splits[1].throughput_error() == Approx(55.0 / 53 - 1));
  const auto all = predict::verify_all(asked.profiles, records);
  REQUIRE(all.size() == 1);
  CHECK(all.front().verification.splits.size() == 2);
  asked.codecs = {"uniform8"};
  CHECK(predict::verify(asked, records).splits.size() == 1);
}

TEST_CASE(
    "of devices that were profiled apart only what crossed a named network is predicted, and nothing else is asked "
    "for") {
  const std::vector<predict::Profile> apart{a_profile({{50, 50}}), a_profile({{50, 50}})};
  auto far = measured(1, 130, 40);
  far.trial.network.name = "far";
  far.trial.network.forward.delay = far.trial.network.backward.delay = std::chrono::milliseconds(10);
  far.trial.shaping = experiment::Shaping::netem;
  const auto groups = predict::verify_all(apart, std::vector{measured(1, 110, 40), far});
  REQUIRE(groups.size() == 1);
  REQUIRE(groups.front().question.network.has_value());
  CHECK(groups.front().question.network->name == "far");
  const auto questions = predict::questions_of({.profiles = apart}, std::vector{measured(1, 110, 40), far});
  REQUIRE(questions.size() == 1);
  CHECK(questions.front().network.has_value());
}

TEST_CASE("all remote is predicted, too: the input crosses, and nothing is computed on the first device") {
  const auto split = predict_split(question(), {{0}});
  CHECK(split.payload_bytes == std::vector<std::int64_t>{200'000, 40});
  CHECK(split.latency_ns.value == Approx((100 + 20 + 2 + 0.004) * kMs));
}

TEST_CASE("a limit of memory is of choices, and changes nothing of what is predicted for a measured split") {
  auto asked = question();
  const std::vector<TrialRecord> records{measured(1, 112.004, 40), measured(2, 80, 20)};
  const auto before = predict::verify(asked, records);
  asked.memory_bytes = {1};
  CHECK(predict::verify(asked, records).worst_error == before.worst_error);
}

TEST_CASE("what shapes a network, and which way each link goes through it, is taken from the records") {
  auto shaped = measured(1, 110, 40);
  shaped.trial.network.name = "slow";
  shaped.trial.network.forward.rate_bit_per_s = 8'000'000;
  shaped.trial.shaping = experiment::Shaping::emulated;
  auto asked = question();
  asked.network = shaped.trial.network;
  CHECK(contains(support::message_of<UsageError>([&] { predict::verify(asked, std::vector{shaped}); }), "none of the"));
  const auto forward_ns = [&](const TrialRecord& record) {
    const auto verification = predict::verify(predict::as_measured(asked, std::vector{record}), std::vector{record});
    return verification.splits.front().predicted.link_ns.front().value;
  };
  CHECK(forward_ns(shaped) == Approx(101 * kMs));
  auto by_frames = shaped;
  by_frames.trial.shaping = experiment::Shaping::netem;
  CHECK(forward_ns(by_frames) == Approx((1 + 100 * 1514.0 / 1448) * kMs));
  auto within = shaped;
  within.trial.placement = {0, 0};
  CHECK(forward_ns(within) == Approx(11 * kMs));
  CHECK(predict::verify_all(asked.profiles, std::vector{shaped, by_frames, within}).size() == 3);
}

TEST_CASE("the compute at depth is held against the pace that was fitted to a busy pipeline") {
  auto asked = question();
  asked.corrections = {.idle_pace = 1.1, .busy_pace = 1.3};
  auto record = measured(1, 122, 30);
  record.summary->stages.resize(2);
  record.summary->stages.front().compute_p50_ns = 65 * kMs;
  const auto verification = predict::verify(asked, std::vector{record});
  REQUIRE(verification.splits.front().under_load);
  CHECK(verification.splits.front().under_load->missed_ns() == Approx(0).margin(1));
}

TEST_CASE("records of anything else are left out, and it is an error if none is left") {
  const auto good = measured(1, 112, 40);
  const auto refused = [&](const auto& change) {
    auto other = good;
    change(other);
    const auto said = support::message_of<UsageError>([&] { predict::verify(question(), std::vector{other}); });
    return contains(said, "none of the 1 trials");
  };
  CHECK_FALSE(refused([](auto&) {}));
  CHECK(refused([](auto& it) { it.status = record::Status::failed; }));
  CHECK(refused([](auto& it) { it.summary->latency.reset(); }));
  CHECK(refused([](auto& it) { it.summary->throughput_image_per_s.reset(); }));
  CHECK(refused([](auto& it) { it.trial.model = "n"; }));
  CHECK(refused([](auto& it) { it.trial.batch = 4; }));
  CHECK(refused([](auto& it) { it.trial.micro_batch = 1; }));
  CHECK(refused([](auto& it) { it.trial.depth = 2; }));
  CHECK(refused([](auto& it) { it.trial.threads_per_stage = 2; }));
  CHECK(refused([](auto& it) { it.trial.num_classes = 100; }));
  CHECK(refused([](auto& it) { it.trial.data_parallel = 2; }));
  CHECK(refused([](auto& it) { it.trial.split_points = {0, 1}; }));
  CHECK(refused([](auto& it) { it.trial.compute.compute = experiment::Compute::optimized; }));
  CHECK(refused([](auto& it) { it.trial.network.forward.delay = std::chrono::milliseconds(1); }));
}

TEST_CASE("splits that the model or the pipeline does not have are refused") {
  const auto refusal = [](const std::vector<int>& split) {
    return support::message_of<UsageError>([&] { predict_split(question(), {split}); });
  };
  CHECK(contains(refusal({3}), "has none such in 2 stages"));
  CHECK(contains(refusal({-1}), "has none such"));
  CHECK(contains(refusal({0, 1}), "has none such"));
  CHECK(contains(refusal({}), "has none such"));
}
