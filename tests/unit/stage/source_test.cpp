#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/source.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>
#include <limits>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using paretopipe::stage::ArrivalGate;
using stage::Activation;
using stage::ReferenceSet;
using stage::Source;

namespace {

/// Two images with three classes.
Activation logits(const std::vector<float>& values) {
  const auto bytes = values.size() * sizeof(float);
  std::shared_ptr<std::byte[]> memory(new std::byte[bytes]);
  std::memcpy(memory.get(), values.data(), bytes);
  const auto images = static_cast<std::int64_t>(values.size() / 3);
  return {{wire::DType::float32, wire::MemoryFormat::contiguous, {images, 3}}, {memory.get(), bytes}, memory};
}

const std::vector<float> kRight{1, 2, 3, 6, 5, 4};

ReferenceSet references(int count) {
  ReferenceSet set;
  for (int i = 0; i < count; ++i) {
    set.inputs.push_back(logits({static_cast<float>(i), 0, 0}));
    set.outputs.push_back(logits(kRight));
  }
  return set;
}

stage::Run a_run(int warmup, int batches, int depth) {
  stage::Run run;
  run.warmup = warmup;
  run.batches = batches;
  run.depth = depth;
  return run;
}

/// How many batches were handed over so far.
std::ptrdiff_t handed_over(const Source& source) {
  const auto& moments = source.issued();
  return std::count_if(moments.begin(), moments.end(), [](auto moment) { return moment != 0; });
}

/// Completes every micro-batch as soon as it is handed over. `expected` says how many are handed over before the first
/// one is back, and after each.
void check_hand_over(Source& source, const ReferenceSet& set, const std::vector<std::ptrdiff_t>& expected) {
  source.start();
  for (std::size_t done = 0; done < expected.size(); ++done) {
    CAPTURE(done);
    const bool all_done = done + 1 == expected.size();
    CHECK(handed_over(source) == expected[done]);
    CHECK(source.last_batch().empty() != all_done);
    if (all_done) break;
    const auto job = source.jobs().pop();
    CHECK(job->sequence == done);
    CHECK(job->activation.bytes.data() == set.inputs[done % set.inputs.size()].bytes.data());
    source.complete(done, 1, 1, set.outputs[done % set.outputs.size()]);
  }
}

/// The accuracy of a trial of so many batches of two images each, whose results go round: {2, 0}, {0, 1}.
Accuracy accuracy_of(std::vector<std::int64_t> labels, int batches, const std::vector<float>& first = kRight) {
  auto set = references(2);
  set.outputs.back() = logits({3, 2, 1, 5, 6, 4});
  set.labels = std::move(labels);
  Source source(a_run(0, batches, 1), set);
  source.start();
  for (std::size_t i = 0; i < static_cast<std::size_t>(2 * batches); ++i) {
    source.jobs().pop();
    source.complete(i, 1, 1, i == 0 ? logits(first) : set.outputs[i % 2]);
  }
  return source.accuracy();
}

struct Comparison {
  double difference;
  double mean;
  double agreement;
};

/// What a source says of a trial of two batches, the first of which came back as `values` instead of `right`.
Comparison compare(const std::vector<float>& values, const std::vector<float>& right = kRight) {
  auto set = references(1);
  set.outputs.front() = logits(right);
  Source source(a_run(0, 1, 1), set);
  source.start();
  source.jobs().pop();
  source.complete(0, 1, 1, logits(values));
  source.jobs().pop();
  source.complete(1, 1, 1, set.outputs.front());
  const auto& found = source.comparison();
  return {found.max_abs_difference(), found.mean_abs_difference(), found.top1_agreement()};
}

}  // namespace

TEST_CASE("accuracy counts each labelled image once, at its first result, however often it comes round") {
  CHECK(accuracy_of({2, 0, 0, 1}, 5) == Accuracy{1, 4});
  CHECK(accuracy_of({2, 0, 0, 0}, 5) == Accuracy{0.75, 4});
  CHECK(accuracy_of({2, 1, 1}, 3) == Accuracy{1.0 / 3, 3});  // the data end in the middle of a batch
  CHECK(accuracy_of({1}, 1) == Accuracy{0, 1});
  CHECK(accuracy_of({}, 5) == Accuracy{0, 0});
  // Of what came back, not of what the unsplit model makes.
  CHECK(accuracy_of({2, 0, 0, 1}, 5, {9, 2, 3, 6, 5, 4}) == Accuracy{0.75, 4});
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(accuracy_of({2, 0}, 2, {nan, nan, nan, 6, 5, 4}).images == 2);
}

TEST_CASE("the last batch is kept as it came back, all micro-batches of it, and none before the end") {
  auto set = references(2);
  set.outputs.back() = logits({3, 2, 1, 5, 6, 4});
  auto run = a_run(0, 1, 1);
  run.micro_batches = 2;
  Source source(run, set);
  source.start();
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(source.last_batch().empty());
    source.jobs().pop();
    source.complete(i, 1, 1, set.outputs[i % 2]);
  }
  REQUIRE(source.last_batch().size() == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(source.last_batch()[i].bytes.data() == set.outputs[i].bytes.data());
}

TEST_CASE("one batch is in flight in the SingleStream phase and `depth` in the Offline phase") {
  const auto set = references(2);
  Source source(a_run(1, 3, 3), set);
  check_hand_over(source, set, {1, 2, 3, 4, 7, 8, 8, 8, 8});
}

TEST_CASE("the Offline phase begins when the SingleStream phase's last result is back, and not before") {
  const auto set = references(1);
  Source source(a_run(0, 2, 8), set);
  source.start();
  for (std::size_t sequence = 0; sequence < 4; ++sequence) source.complete(sequence, 5, 6, set.outputs.front());
  CHECK(source.issued()[2] >= source.results().completed[1]);
  CHECK(handed_over(source) == 4);  // no more than there are, whatever the depth
  CHECK(source.results().receive_begin == std::vector<std::int64_t>(4, 5));
  CHECK(source.results().receive_end == std::vector<std::int64_t>(4, 6));
}

TEST_CASE("a run of one phase hands over that phase's batches and no more") {
  const auto set = references(2);
  auto run = a_run(1, 3, 3);
  const bool offline = GENERATE(true, false);
  CAPTURE(offline);
  run.phases = offline ? experiment::Phases::offline : experiment::Phases::single_stream;
  CHECK(run.total_batches() == 4);
  Source source(run, set);
  const std::vector<std::ptrdiff_t> loaded{3, 4, 4, 4, 4}, alone{1, 2, 3, 4, 4};
  check_hand_over(source, set, offline ? loaded : alone);
}

TEST_CASE(
    "all micro-batches of a batch are handed over at once, and its last one that comes back makes room for the next") {
  const auto set = references(6);
  auto run = a_run(0, 2, 2);
  run.micro_batches = 3;
  Source source(run, set);
  check_hand_over(source, set, {3, 3, 3, 6, 6, 6, 12, 12, 12, 12, 12, 12, 12});
  for (std::size_t i = 0; i < 12; ++i) CHECK(source.issued()[i] == source.issued()[i - i % 3]);
}

TEST_CASE("a micro-batch is compared with what the unsplit model made of it, and not with another one's") {
  auto set = references(2);
  set.outputs[1] = logits({6, 5, 4, 1, 2, 3});
  auto run = a_run(0, 1, 1);
  run.micro_batches = 2;
  const auto difference = [&](std::size_t first, std::size_t second) {
    Source source(run, set);
    source.start();
    for (std::size_t sequence = 0; sequence < 4; ++sequence) {
      source.jobs().pop();
      source.complete(sequence, 1, 1, set.outputs[sequence % 2 == 0 ? first : second]);
    }
    return source.comparison().max_abs_difference();
  };
  CHECK(difference(0, 1) == 0);
  CHECK(difference(1, 0) == 5);
  CHECK(difference(0, 0) == 5);
}

TEST_CASE(
    "the largest and the mean difference count, be it of one bit or beyond any number, and every image whose class "
    "differs") {
  const auto equal = compare(kRight);
  CHECK(equal.difference == 0);
  CHECK(equal.mean == 0);
  CHECK(equal.agreement == 1);
  const auto other = compare({1, 2, 3.5F, 6, 6.25F, 4});
  CHECK(other.difference == 1.25);
  CHECK(other.mean == 1.75 / 12);  // of both batches, of which one is equal
  CHECK(other.agreement == 0.75);  // one of four images
  auto almost = kRight;
  almost[0] = std::nextafter(almost[0], 2.0F);
  CHECK(compare(almost).difference > 0);
  const auto zeros = compare({-0.0F, 0, 0}, {0, 0, 0});  // told from none, even where the values are equal
  CHECK(zeros.difference > 0);
  CHECK(zeros.agreement == 1);
  auto broken = kRight;
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    broken[4] = value;
    const auto comparison = compare(broken);
    CAPTURE(value);
    CHECK(comparison.difference > 1e38);
    CHECK(comparison.mean > 1e38);
    CHECK(std::isfinite(comparison.difference));  // a number that JSON has
    CHECK(std::isfinite(comparison.mean));
  }
  const auto message = support::message_of<Error>([] { compare({1, 2, 3}); });
  CHECK(support::contains(message, "[1x3]"));
  CHECK(support::contains(message, "[2x3]"));
}

namespace {

constexpr std::int64_t kHour = 3'600'000'000'000;

std::future<bool> entering(ArrivalGate& gate, std::int64_t moment) {
  return std::async(std::launch::async, [&gate, moment] { return gate.enter(moment); });
}

}  // namespace

TEST_CASE("nobody enters before the moment has come, and one that has passed is no reason to wait") {
  ArrivalGate gate(4);
  const auto moment = now_ns() + 20'000'000;
  CHECK(gate.enter(moment));
  CHECK(now_ns() >= moment);
  for (const auto past : {std::int64_t{0}, now_ns() - kHour, now_ns()}) CHECK(gate.enter(past));
}

TEST_CASE("who finds no room enters when somebody leaves, or has left before") {
  ArrivalGate gate(2);
  CHECK(gate.enter(0));
  gate.leave();
  CHECK(gate.enter(0));
  CHECK(gate.enter(0));
  auto third = entering(gate, 0);
  CHECK(third.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
  gate.leave();
  CHECK(third.get());
}

TEST_CASE("closing releases who waits for a moment, and who waits for room") {
  ArrivalGate gate(1);
  auto early = entering(gate, now_ns() + kHour);
  CHECK(gate.enter(0));
  auto crowded = entering(gate, 0);
  gate.close();
  CHECK_FALSE(early.get());
  CHECK_FALSE(crowded.get());
  CHECK_FALSE(gate.enter(0));
}
