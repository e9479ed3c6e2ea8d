#include <paretopipe/analysis/predict/prediction.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include <support/catch.hpp>

#include "enumeration.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using predict::Bottleneck;
using predict::PlacedStage;
using predict::Prediction;
using predict::Question;
using support::contains;

namespace {

/// 100 kB at 80 Mbit/s.
constexpr double kBlockMs = 10;
/// Half of the round trip of 2 ms.
constexpr double kFixedMs = 1;
/// The result's 40 bytes.
constexpr double kResultMs = 0.004;

Prediction predict_of(const std::vector<std::vector<int>>& block_ms, int depth = 100) {
  return predict::predict(question_of(block_ms, depth));
}

const predict::PredictedSplit& split_at(const Prediction& prediction, const std::vector<int>& points) {
  for (const auto& split : prediction.frontier) {
    if (split.split_points() == points) return split;
  }
  throw std::out_of_range("no such split is on the frontier");
}

}  // namespace

TEST_CASE("latency is the sum of all stages and links, and the slowest of them bounds the throughput") {
  const auto prediction = predict_of({{20, 20, 20}, {20, 20, 20}});
  REQUIRE(prediction.frontier.size() == 2);
  const auto& local = prediction.frontier.front();
  CHECK(local.all_local());
  CHECK(local.latency_ns.value == Approx(60 * kMs));
  CHECK(local.throughput_image_per_s.value == Approx(2 / 0.060));
  const auto& cut = prediction.frontier.back();
  CHECK(cut.latency_ns.value == Approx((60 + kBlockMs + kFixedMs + kResultMs + kFixedMs) * kMs));
  CHECK(cut.throughput_image_per_s.value == Approx(2 / 0.040));
  CHECK(cut.bottleneck.kind == Bottleneck::Kind::stage);
  CHECK(cut.payload_bytes == std::vector<std::int64_t>{100'000, 40});
}

TEST_CASE("a link bounds the throughput if it takes longest, and batches in flight if they are too few") {
  const auto deep = predict_of({{6, 6}, {6, 6}});
  const auto cut = split_at(deep, {1});
  CHECK(cut.bottleneck == Bottleneck{Bottleneck::Kind::link, 0});
  CHECK(cut.throughput_image_per_s.value == Approx(2 / 0.010));
  // 12 ms of blocks and 12 ms of links, of which two batches are in flight.
  const auto prediction = predict_of({{6, 6}, {6, 6}}, 2);
  CHECK(prediction.frontier.size() == 1);  // so the cut completes a batch every 12 ms, as the first device alone does
  const auto few = predict_of({{60, 30}, {60, 30}}, 1);
  REQUIRE(few.frontier.size() == 1);  // with one in flight a cut only adds a link
  CHECK(few.frontier.front().all_local());
  const auto slower = predict_of({{6, 60}, {60, 6}}, 1);
  REQUIRE(slower.frontier.size() == 1);
  CHECK(slower.frontier.front().split_points() == std::vector<int>{1});
  CHECK(slower.frontier.front().bottleneck.kind == Bottleneck::Kind::depth);
}

TEST_CASE("with a fast last device everything there is on the frontier, and the input crosses for it") {
  const auto prediction = predict_of({{200, 200}, {5, 5}});
  REQUIRE(prediction.frontier.size() == 1);
  const auto& remote = prediction.frontier.front();
  CHECK(remote.split_points() == std::vector<int>{0});
  CHECK(remote.latency_ns.value == Approx((10 + 2 * kBlockMs + kFixedMs + kResultMs + kFixedMs) * kMs));
  CHECK(remote.bottleneck == Bottleneck{Bottleneck::Kind::link, 0});
}

TEST_CASE("a band reaches from fast rounds to slow ones, and only the stages widen it") {
  const auto prediction = predict_of({{50, 50}, {50, 50}});
  const auto cut = split_at(prediction, {1});
  // Three samples of 0.99, 1 and 1.01: their 10th percentile is 0.992.
  CHECK(cut.latency_ns.value - cut.latency_ns.low == Approx(100 * kMs * 0.008));
  CHECK(cut.latency_ns.high - cut.latency_ns.value == Approx(100 * kMs * 0.008));
  CHECK(cut.throughput_image_per_s.low == Approx(2 / (0.050 * 1.008)));
  CHECK(cut.throughput_image_per_s.high == Approx(2 / (0.050 * 0.992)));
}

TEST_CASE("every partition is considered: the frontier is that of all of them") {
  const std::vector<std::vector<int>> times{{9, 40, 7, 30, 12}, {11, 20, 35, 8, 9}, {30, 6, 14, 22, 25}};
  const auto prediction = predict_of(times);
  const auto time_of = [&](int device, int begin, int end) {
    double sum = 0;
    for (int i = begin; i < end; ++i) sum += times[static_cast<std::size_t>(device)][static_cast<std::size_t>(i)];
    return sum;
  };
  std::vector<std::pair<double, double>> all{{98, 98}};  // all local
  for (int a = 1; a < 4; ++a) {
    for (int b = a + 1; b < 5; ++b) {
      const double stages[] = {time_of(0, 0, a), time_of(1, a, b), time_of(2, b, 5)};
      all.emplace_back(stages[0] + stages[1] + stages[2] + 2 * kBlockMs + 3 * kFixedMs + kResultMs,
                       std::max({stages[0], stages[1], stages[2], kBlockMs}));
    }
  }
  all.emplace_back(97 + 2 * 2 * kBlockMs + 3 * kFixedMs + kResultMs, 97);
  std::sort(all.begin(), all.end());
  std::vector<std::pair<double, double>> frontier;
  for (const auto& one : all) {
    if (frontier.empty() || one.second < frontier.back().second) frontier.push_back(one);
  }
  REQUIRE(prediction.frontier.size() == frontier.size());
  REQUIRE(frontier.size() > 1);
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    CHECK(prediction.frontier[i].latency_ns.value == Approx(frontier[i].first * kMs));
    CHECK(prediction.frontier[i].throughput_image_per_s.value == Approx(2e3 / frontier[i].second));
  }
}

TEST_CASE("a network that one does not have replaces the rate and adds its delay") {
  auto question = question_of({{50, 50}, {50, 50}});
  question.network = experiment::NetworkProfile{"slow", {}, {}};
  question.network->forward.rate_bit_per_s = 8'000'000;
  question.network->forward.delay = std::chrono::milliseconds(7);
  question.network->backward.delay = std::chrono::milliseconds(3);
  const auto prediction = predict::predict(question);
  CHECK(prediction.network == "slow");
  // 100 kB take 100 ms at 8 Mbit/s, and frames have headers: the link bounds, and a cut is worth nothing.
  REQUIRE(prediction.frontier.size() == 1);
  CHECK(prediction.frontier.front().all_local());
  question.network->forward.rate_bit_per_s = 16'000'000;
  const auto faster = predict::predict(question);
  const auto cut = split_at(faster, {1});
  const double crossing = 50 * 1514.0 / 1448.0;
  CHECK(cut.latency_ns.value == Approx((100 + crossing + kFixedMs + 7 + kResultMs + kFixedMs + 3) * kMs));
  CHECK(cut.throughput_image_per_s.value == Approx(2e3 / crossing));
  question.network->forward.jitter = std::chrono::milliseconds(2);
  const auto jittery = predict::predict(question);
  const auto& wide = split_at(jittery, {1}).latency_ns;
  CHECK(wide.value == Approx(cut.latency_ns.value));
  CHECK(wide.high - wide.value == Approx(cut.latency_ns.high - cut.latency_ns.value + 6 * kMs));
  CHECK(wide.value - wide.low == Approx(cut.latency_ns.value - cut.latency_ns.low + 6 * kMs));
  question.shaping = experiment::Shaping::emulated;  // counts no headers
  CHECK(predict::predict(question).frontier.back().throughput_image_per_s.value == Approx(2e3 / 50));
  question.network->backward.loss = 0.01;
  CHECK(contains(refusal(question), "has to be measured"));
}

TEST_CASE("the cut that is chosen moves with the devices' speeds and the network, as trying every cut says") {
  // Activations shrink on the way, so that a slow network wants a late cut, and a fast second device an early one.
  constexpr int kBlocks = 6;
  constexpr double kKilobytes[kBlocks + 1] = {800, 700, 400, 200, 100, 50, 0.04};
  std::set<int> chosen;
  for (const auto& [first_ms, second_ms] : {std::pair(12, 4), std::pair(4, 12)}) {
    for (const double megabit_per_s : {1000.0, 50.0}) {
      auto question = question_of({std::vector<int>(kBlocks, first_ms), std::vector<int>(kBlocks, second_ms)});
      for (auto& link : question.profiles.front().links) link.rate_bit_per_s = 1e11;
      auto& model = question.profiles.front().model;
      model.input_bytes = static_cast<std::int64_t>(kKilobytes[0] * 1000);
      for (std::size_t i = 0; i < kBlocks; ++i) {
        model.blocks[i].activation_bytes = static_cast<std::int64_t>(kKilobytes[i + 1] * 1000);
      }
      question.shaping = experiment::Shaping::emulated;  // counts no headers
      question.network = experiment::NetworkProfile{"asked", {}, {}};
      question.network->forward.rate_bit_per_s = static_cast<std::int64_t>(megabit_per_s * 1e6);
      int best = 0;
      double least_ms = 1e9;
      for (int cut = 0; cut <= kBlocks; ++cut) {
        const double crossing_ms = kKilobytes[cut] * 8 / megabit_per_s;
        const double period_ms = cut == kBlocks ? first_ms * kBlocks
                                                : std::max({static_cast<double>(cut * first_ms), crossing_ms,
                                                            static_cast<double>((kBlocks - cut) * second_ms)});
        if (period_ms < least_ms) {
          best = cut;
          least_ms = period_ms;
        }
      }
      const auto prediction = predict::predict(question);
      const auto& fastest = *std::max_element(
          prediction.frontier.begin(), prediction.frontier.end(), [](const auto& one, const auto& other) {
            return one.throughput_image_per_s.value < other.throughput_image_per_s.value;
          });
      CAPTURE(first_ms, second_ms, megabit_per_s);
      CHECK(fastest.split_points() == std::vector{best});
      CHECK(fastest.throughput_image_per_s.value == Approx(2e3 / least_ms));
      chosen.insert(best);
    }
  }
  CHECK(chosen.size() >= 3);
}

TEST_CASE("in any order the fast device comes where it is worth most, and everything may be on one device") {
  auto question = question_of({{10, 80}, {80, 10}, {200, 200}});
  question.network = experiment::NetworkProfile{};
  question.stages = 2;
  question.any_order = true;
  const auto prediction = predict::predict(question);
  REQUIRE(prediction.frontier.size() == 1);
  CHECK(prediction.frontier.front().stages == std::vector<PlacedStage>{{0, 0, 1}, {1, 1, 2}});
  question.profiles = {a_profile({{80, 10}, {10, 80}})};
  CHECK(predict::predict(question).frontier.front().stages == std::vector<PlacedStage>{{1, 0, 1}, {0, 1, 2}});
  question.profiles = {a_profile({{80, 80}, {1, 1}})};
  CHECK(predict::predict(question).frontier.front().stages == std::vector<PlacedStage>{{1, 0, 2}});
  question.network.reset();
  CHECK(contains(refusal(question), "--network"));
}

TEST_CASE("a device computes only what fits into its memory") {
  Question question{.profiles = {a_profile({{10, 10, 10}, {10, 10, 10}})}};  // a megabyte a block
  question.memory_bytes = {1'500'000, 4'000'000};
  const auto prediction = predict::predict(question);
  for (const auto& split : prediction.frontier) CHECK(split.stages.front().end <= 1);
  CHECK(split_at(prediction, {1}).stages.size() == 2);
  question.memory_bytes = {1'500'000};
  CHECK(predict::predict(question).frontier.empty());
  question.memory_bytes = {1, 2, 3};
  CHECK(contains(refusal(question), "3 memory limits were given for 2 devices"));
  question.memory_bytes = {1};
  question.profiles.front().devices[1].runs[0].memory_bytes.reset();
  CHECK(contains(refusal(question), "does not say how much"));
}

TEST_CASE("questions that have no answer are refused in a sentence") {
  const auto two = a_profile({{1, 2}, {3, 4}});
  CHECK(contains(refusal({}), "name at least one profile"));
  CHECK(contains(refusal({.profiles = {two}, .stages = 3}), "hold 2 devices, and the pipeline has 3 stages"));
  CHECK(contains(refusal({.profiles = {two}, .stages = 1}), "--any-order"));
  CHECK(contains(refusal({.profiles = {two, a_profile({{1, 2, 3}})}}), "together"));
  CHECK(contains(refusal({.profiles = {two, two}}), "the way from device 1 to device 0"));
  CHECK(contains(refusal({.profiles = {two}, .depth = 0}), "at least 1"));
  auto unprobed = two;
  unprobed.links.clear();
  CHECK(contains(refusal({.profiles = {unprobed}, .network = experiment::NetworkProfile{}}), "has no rate"));
}

TEST_CASE("stages on the same CPUs of a machine take turns, and a quota takes its share of their time") {
  auto question = question_of({{20, 20, 20}, {20, 20, 20}});
  for (auto& device : question.profiles.front().devices) device.cpus = "0";
  const auto cut = [&] { return predict_split(question, {{1}}); };
  CHECK(cut().throughput_image_per_s.value == Approx(2 / 0.060));
  CHECK(cut().bottleneck == Bottleneck{Bottleneck::Kind::cpus, 0});
  CHECK(predict::predict(question).frontier.size() == 1);  // so a cut only adds a link
  for (auto& device : question.profiles.front().devices) device.cpu_quota = 0.5;
  CHECK(cut().throughput_image_per_s.value == Approx(2 / 0.040));
  CHECK(cut().bottleneck == Bottleneck{Bottleneck::Kind::stage, 1});
  question.profiles.front().devices.back().cpus = "1";
  question.corrections.contention = 0.25;
  CHECK(cut().throughput_image_per_s.value == Approx(2 / 0.045));
}

TEST_CASE("stages take turns on the CPUs that they have in common, whatever else each has") {
  auto question = question_of({{20, 20}, {20, 20}, {20, 20}});
  auto& devices = question.profiles.front().devices;
  const auto period_s = [&] { return 2 / predict_split(question, {{1, 1}}).throughput_image_per_s.value; };
  devices[0].cpus = "0";
  devices[2].cpus = "0-1";
  devices[2].compute["threads"] = 2;
  CHECK(period_s() == Approx(0.040));
  devices[2].cpus = "1-2";
  CHECK(period_s() == Approx(0.020));
  devices[1].cpus = "0-1";  // what lies between joins both
  CHECK(period_s() == Approx(0.040));
}

TEST_CASE("each link goes its way through the network: away from the source, back to it, or within a device") {
  auto question = question_of({{20, 20}, {20, 20}, {20, 20}});
  question.network = experiment::NetworkProfile{"slow", {}, {}};
  question.network->forward.rate_bit_per_s = 8'000'000;
  question.network->backward.delay = std::chrono::milliseconds(7);
  question.shaping = experiment::Shaping::emulated;
  const auto link_ms = [&] {
    std::vector<double> times;
    for (const auto& link : predict_split(question, {{1, 1}}).link_ns) times.push_back(std::round(link.value / kMs));
    return times;
  };
  CHECK(link_ms() == std::vector<double>{101, 101, 8});
  question.placement = {0, 1, 0};
  CHECK(link_ms() == std::vector<double>{101, 18, 1});
}

TEST_CASE("with a quota, which makes some rounds short and others long, a device takes their mean") {
  Question question{.profiles = {a_profile({{20}})}};
  question.profiles.front().devices.front().runs.front().compute_ns = {10'000'000, 10'000'000, 40'000'000};
  CHECK(predict::predict(question).frontier.front().latency_ns.value == Approx(10 * kMs));
  question.profiles.front().devices.front().cpu_quota = 0.5;
  CHECK(predict::predict(question).frontier.front().latency_ns.value == Approx(20 * kMs));
}

TEST_CASE("memory as a third objective gives what enumeration does, and so do stages that hold each other up") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    auto question = random_question(random);
    const int blocks = question.profiles.front().model.block_count();
    question.least_memory = true;
    CHECK(numbers_of(predict::predict(question), true) == enumerated_frontier(question, blocks, true));
    question.least_memory = false;
    CHECK(numbers_of(predict::predict(question), false) == enumerated_frontier(question, blocks, false));
    question.corrections = {.idle_pace = 1.1, .busy_pace = 0.9, .hand_over_ns = 1e6, .contention = 0.3};
    CHECK(numbers_of(predict::predict(question), false) == enumerated_frontier(question, blocks, false));
  }
}

TEST_CASE("trying all one by one finds what the search by stages finds, in any order, too") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    auto question = random_question(random);
    question.network = experiment::NetworkProfile{};
    question.any_order = true;
    question.stages = 2;
    const auto by_stages = predict::predict(question);
    question.corrections.contention = 1e-300;  // changes no number, but has all tried
    const auto one_by_one = predict::predict(question);
    CHECK(numbers_of(by_stages, false) == numbers_of(one_by_one, false));
  }
}

TEST_CASE("too many partitions to try one by one are refused") {
  Question question{.profiles = {a_profile(std::vector(8, std::vector<int>(40, 1)))}};
  question.corrections.contention = 0.1;
  CHECK(contains(refusal(question), "tried one by one"));
}

TEST_CASE("images that arrive on their own wait in one queue, and a rate that nothing keeps up with has no latency") {
  auto question = question_of({{50, 50}, {50, 50}});
  question.rate_image_per_s = 20;  // ten batches a second, of 50 ms each
  const auto cut = predict_split(question, {{1}});
  REQUIRE(cut.server.has_value());
  CHECK(cut.server->mean_ns.value == Approx(cut.latency_ns.value + 25 * kMs));
  CHECK(cut.server->p99_ns.value > cut.server->mean_ns.value);
  CHECK(cut.server->mean_ns.low < cut.server->mean_ns.value);
  CHECK(cut.server->mean_ns.high > cut.server->mean_ns.value);
  question.rate_image_per_s = 40;
  CHECK_FALSE(predict_split(question, {{1}}).server.has_value());
  question.rate_image_per_s = 10;
  question.depth = 1;
  CHECK_FALSE(predict_split(question, {{1}}).server.has_value());
}
