#include <paretopipe/compute/synthetic/synthetic_backend.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <support/catch.hpp>

using namespace paretopipe;
using stage::Activation;
using stage::ModelRequest;

namespace {

/// Larger, smaller and equal outputs in turn; no time.
constexpr const char* kModel = "synthetic:0ms/64kB,0ms/400B,0ms/400B,0ms/4B,0ms";
constexpr int kBlocks = 5;

ModelRequest request(const std::string& model = kModel, std::uint64_t seed = 1) {
  return {model, 10, 2, seed, "random"};
}

std::unique_ptr<stage::Backend> loaded(const std::string& model = kModel) {
  auto backend = synthetic::make_synthetic_backend();
  backend->load(request(model), {0, kBlocks});
  return backend;
}

std::vector<float> values_of(const Activation& activation) {
  const auto* values = reinterpret_cast<const float*>(activation.bytes.data());
  return {values, values + activation.bytes.size() / sizeof(float)};
}

/// What a stage would get that received these bytes.
Activation received(stage::Backend& backend, const Activation& sent) {
  auto copy = backend.allocate(sent.spec);
  std::copy(sent.bytes.begin(), sent.bytes.end(), copy.bytes.begin());
  return backend.decode(copy);
}

/// Shortest time of a few calls, so that a warm-up is no excuse.
std::int64_t shortest_ns(stage::Backend& backend, experiment::BlockRange range, const Activation& input) {
  auto shortest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 3; ++i) {
    const auto begin = now_ns();
    backend.forward(range, input);
    shortest = std::min(shortest, now_ns() - begin);
  }
  return shortest;
}

}  // namespace

TEST_CASE("the output is the same for any partition, whichever stage computes which blocks") {
  const auto whole = loaded();
  for (const auto& input : whole->make_inputs(request(), 2)) {
    const auto expected = values_of(whole->forward({0, kBlocks}, input));
    for (int first = 0; first <= kBlocks; ++first) {
      for (int second = first; second <= kBlocks; ++second) {
        const auto middle = loaded();
        const auto last = loaded();
        auto activation = received(*middle, whole->encode(whole->forward({0, first}, input)));
        activation = received(*last, middle->encode(middle->forward({first, second}, activation)));
        CAPTURE(first, second);
        CHECK(values_of(last->forward({second, kBlocks}, activation)) == expected);
      }
    }
  }
}

TEST_CASE("every activation is what the description says") {
  const auto backend = loaded();
  const auto description = backend->describe(request());
  const auto input = backend->make_inputs(request(), 1).front();
  for (int split = 0; split <= kBlocks; ++split) {
    const auto activation = backend->forward({0, split}, input);
    CHECK(activation.spec.shape == description.shape_at(split));
    CHECK(static_cast<std::int64_t>(activation.bytes.size()) == description.bytes_at(split));
  }
  CHECK(backend->forward({2, 2}, input).bytes.data() == input.bytes.data());
}

TEST_CASE("an input is not changed by computing on it, and the logits are numbers of [0, 1)") {
  const auto backend = loaded();
  const auto input = backend->make_inputs(request(), 1).front();
  const auto before = values_of(input);
  const auto logits = values_of(backend->forward({0, kBlocks}, input));
  CHECK(values_of(input) == before);
  CHECK(logits.size() == 20);
  CHECK(std::all_of(logits.begin(), logits.end(), [](float value) { return value >= 0 && value < 1; }));
}

TEST_CASE("one flipped bit of any activation shows in the logits") {
  const auto backend = loaded();
  const auto input = backend->make_inputs(request(), 1).front();
  const auto expected = values_of(backend->forward({0, kBlocks}, input));
  for (int split = 0; split < kBlocks; ++split) {
    const auto sent = backend->forward({0, split}, input);
    const auto bits = sent.bytes.size() * 8;
    for (std::size_t bit = 0; bit < bits; bit += std::max<std::size_t>(1, bits / 97)) {
      auto damaged = received(*backend, sent);
      damaged.bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      CAPTURE(split, bit);
      CHECK(values_of(backend->forward({split, kBlocks}, damaged)) != expected);
    }
  }
}

TEST_CASE("a block that is left out or run twice shows in the logits") {
  const auto backend = loaded("synthetic:0ms/400B,0ms/400B,0ms/400B,0ms/400B,0ms");
  const auto input = backend->make_inputs(request(), 1).front();
  const auto expected = values_of(backend->forward({0, kBlocks}, input));
  for (int block = 1; block < 4; ++block) {
    const auto before = backend->forward({0, block}, input);
    const auto twice = backend->forward({block, block + 1}, backend->forward({block, block + 1}, before));
    CAPTURE(block);
    CHECK(values_of(backend->forward({block + 1, kBlocks}, before)) != expected);
    CHECK(values_of(backend->forward({block + 1, kBlocks}, twice)) != expected);
  }
}

TEST_CASE("inputs depend on the seed and on nothing else, and no two are the same") {
  const auto inputs_of = [](std::uint64_t seed) {
    std::vector<std::vector<float>> inputs;
    for (const auto& input : loaded()->make_inputs(request(kModel, seed), 8)) inputs.push_back(values_of(input));
    return inputs;
  };
  const auto inputs = inputs_of(1);
  CHECK(inputs == inputs_of(1));
  CHECK(inputs.front() != inputs_of(2).front());
  CHECK(std::set<std::vector<float>>(inputs.begin(), inputs.end()).size() == 8);
}

TEST_CASE("a block takes no less than its duration, and a range no less than all of its blocks") {
  const auto backend = loaded("synthetic:2ms/4kB,50us/4kB,0ms/4kB,3ms/4kB,1ms");
  const auto input = backend->make_inputs(request(), 1).front();
  CHECK(shortest_ns(*backend, {0, 1}, input) >= 2'000'000);
  CHECK(shortest_ns(*backend, {1, 2}, input) >= 50'000);
  CHECK(shortest_ns(*backend, {3, 4}, input) >= 3'000'000);
  CHECK(shortest_ns(*backend, {0, kBlocks}, input) >= 6'050'000);
}

TEST_CASE("another model takes the place of the one before, and a block that it lacks is an error") {
  const auto backend = loaded();
  const auto input = backend->make_inputs(request(), 1).front();
  backend->load(request("synthetic:0ms"), {0, 1});
  CHECK(backend->forward({0, 1}, input).spec.shape == std::vector<std::int64_t>{2, 10});
  CHECK_THROWS(backend->forward({0, 2}, input));
  CHECK_THROWS_AS(backend->load(request("synthetic:1"), {0, 1}), UsageError);
}

TEST_CASE("the backend tells its pattern, holds no parameters, and says that it computes on one thread") {
  const auto backend = synthetic::make_synthetic_backend();
  CHECK(backend->models() == std::vector<std::string>{"synthetic:DURATION/BYTES,...,DURATION"});
  CHECK(backend->held_parameter_bytes() == 0);
  CHECK(backend->configure({.threads = 4, .flush_denormals = true, .tune_malloc = true})["threads"] == 1);
}
