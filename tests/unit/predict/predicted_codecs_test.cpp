#include <random>
#include <set>
#include <string>

#include <support/catch.hpp>

#include "enumeration.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using predict::Bottleneck;
using predict::Question;
using support::contains;

namespace {

/// 100 kB at 80 Mbit/s.
constexpr double kCrossingMs = 10;
/// Half of the round trip of 2 ms for each of two links, and the result's 40 bytes.
constexpr double kLinksMs = 2.004;

}  // namespace

TEST_CASE("with a codec fewer bytes cross, which the stage before encodes and the stage behind decodes") {
  auto question = question_of({{20, 20, 20}, {20, 20, 20}});
  add_codec(question.profiles.front(), "uniform8", 4, {3}, {2});
  const auto cut = predict_split(question, {{1}, "uniform8"});
  CHECK(cut.codec == "uniform8");
  CHECK(cut.payload_bytes == std::vector<std::int64_t>{25'000, 40});  // results go back as they are
  CHECK(cut.stage_ns.front().value == Approx(20 * kMs));
  CHECK(cut.coding_ns.front().value == Approx(3 * kMs));
  CHECK(cut.coding_ns.back().value == Approx(2 * kMs));
  CHECK(cut.latency_ns.value == Approx((60 + 3 + 2 + kCrossingMs / 4 + kLinksMs) * kMs));
  CHECK(cut.throughput_image_per_s.value == Approx(2 / 0.042));
  CHECK(cut.bottleneck == Bottleneck{Bottleneck::Kind::stage, 1});
  const auto remote = predict_split(question, {{0}, "uniform8"});
  CHECK(remote.payload_bytes.front() == 50'000);
  CHECK(remote.latency_ns.value == Approx((60 + 3 + 2 + kCrossingMs / 2 + kLinksMs) * kMs));
  const auto local = predict_split(question, {{3}, "uniform8"});
  CHECK(local.codec == "none");
  CHECK(local.latency_ns.value == Approx(60 * kMs));
}

TEST_CASE("with a CPU to spare the longer of computing and coding keeps the next batch off, and the latency has both") {
  auto question = question_of({{20, 20, 20}, {20, 20, 20}});
  add_codec(question.profiles.front(), "uniform8", 4, {30}, {2});
  auto& devices = question.profiles.front().devices;
  const auto of_first_device = [&](const char* cpus) {
    devices[0].cpus = cpus;
    return predict_split(question, {{1}, "uniform8"});
  };
  devices[1].cpus = "8,9";
  const auto beside = of_first_device("0-1"), in_turns = of_first_device("0");
  CHECK(beside.throughput_image_per_s.value == Approx(2 / 0.040));  // the second stage's blocks
  CHECK(in_turns.throughput_image_per_s.value == Approx(2 / 0.050));
  CHECK(beside.latency_ns.value == Approx(in_turns.latency_ns.value));
  question.codecs = {"uniform8"};
  devices[0].cpus = "0-1";
  CHECK(numbers_of(predict::predict(question), false) == enumerated_frontier(question, 3, false));
}

TEST_CASE("a codec moves the best cut over a slow link, and pays no more over a fast one") {
  Question question{.profiles = {a_profile({{40, 40, 40, 40}, {10, 10, 10, 10}})}};
  question.profiles.front().model.blocks[1].activation_bytes = 30'000;  // the only small cut
  add_codec(question.profiles.front(), "uniform8", 4, {1}, {1});
  question.network = experiment::NetworkProfile{"slow", {}, {}};
  question.network->forward.rate_bit_per_s = 16'000'000;
  const auto fastest = [&] { return predict::predict(question).frontier.front(); };
  CHECK(fastest().split_points() == std::vector<int>{2});
  question.codecs = {"none", "uniform8"};
  CHECK(fastest().split_points() == std::vector<int>{0});
  CHECK(fastest().codec == "uniform8");
  CHECK(predict::predict(question).codecs == question.codecs);
  for (auto& link : question.profiles.front().links) link.rate_bit_per_s = 10e9;
  question.network->forward.rate_bit_per_s.reset();
  CHECK(fastest().codec == "none");
}

TEST_CASE("a codec that a device was not profiled with is refused, and so is one for each cut") {
  Question question{.profiles = {a_profile({{1, 2, 3}, {3, 4, 5}, {6, 7, 8}})}};
  question.codecs = {"none", "uniform8"};
  CHECK(contains(refusal(question), "paretopipe profile --codec uniform8"));
  add_codec(question.profiles.front(), "uniform8", 4, {1}, {1});
  CHECK(refusal(question) == "(nothing was thrown)");
  question.profiles.front().devices.back().codecs.clear();
  CHECK(contains(refusal(question), "the profile of device 2 does not have this codec"));
  question.codecs = {"none/uniform8"};
  CHECK(contains(refusal(question), "only one codec for all cuts"));
  question.codecs.clear();
  CHECK(contains(refusal(question), "name at least one codec"));
}

TEST_CASE("the frontier over partitions and codecs is what enumeration finds, whatever the codecs take") {
  std::mt19937_64 random(11);
  const auto draw = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  std::set<std::string> chosen;
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    auto question = random_question(random);
    auto& profile = question.profiles.front();
    const int blocks = profile.model.block_count();
    question.codecs = {"none", "lz4", "uniform8"};
    for (const auto* codec : {"lz4", "uniform8"}) {
      std::vector<int> encode_ms, decode_ms;
      for (int cut = 0; cut <= blocks; ++cut) {
        encode_ms.push_back(draw(12));
        decode_ms.push_back(draw(6));
      }
      add_codec(profile, codec, 1 + draw(7), encode_ms, decode_ms);
    }
    for (auto& link : profile.links) link.rate_bit_per_s = 5e6 * (1 + draw(15));
    for (auto& device : profile.devices) {  // devices differ, too
      const int slower = 1 + draw(2);
      for (auto& one : device.codecs) {
        for (auto& ns : one.encode_ns) ns *= slower;
      }
    }
    const auto prediction = predict::predict(question);
    for (const auto& split : prediction.frontier) chosen.insert(split.codec);
    CHECK(numbers_of(prediction, false) == enumerated_frontier(question, blocks, false));
    question.least_memory = true;
    CHECK(numbers_of(predict::predict(question), true) == enumerated_frontier(question, blocks, true));
    question.least_memory = false;
    question.corrections = {.idle_pace = 1.1, .busy_pace = 0.9, .hand_over_ns = 1e6, .contention = 0.3};
    CHECK(numbers_of(predict::predict(question), false) == enumerated_frontier(question, blocks, false));
  }
  CHECK(chosen == std::set<std::string>{"none", "lz4", "uniform8"});
}

TEST_CASE("with codecs, trying all orders one by one finds what the search by stages finds") {
  std::mt19937_64 random(13);
  for (int i = 0; i < 50; ++i) {
    CAPTURE(i);
    auto question = random_question(random);
    add_codec(question.profiles.front(), "uniform8", 4, {2}, {3});
    for (std::size_t device = 0; device < question.profiles.front().devices.size(); ++device) {
      for (auto& one : question.profiles.front().devices[device].codecs) {
        for (auto& ns : one.decode_ns) ns += static_cast<std::int64_t>(device) * 1'000'000;
      }
    }
    question.network = experiment::NetworkProfile{"slow", {}, {}};
    question.network->forward.rate_bit_per_s = 20'000'000;
    question.codecs = {"none", "uniform8"};
    question.any_order = true;
    question.stages = 2;
    const auto by_stages = predict::predict(question);
    question.corrections.contention = 1e-300;  // changes no number, but has all tried
    CHECK(numbers_of(by_stages, false) == numbers_of(predict::predict(question), false));
  }
}
