#include <paretopipe/compute/synthetic/synthetic_backend.hpp>
#include <paretopipe/compute/synthetic/synthetic_model.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/data_source.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>
#include <random>

#include <sys/prctl.h>

namespace paretopipe::synthetic {

namespace {

using stage::Activation;

/// The last stretch of a wait is spent awake: waking up late would falsify the ground truth.
constexpr auto kAwake = std::chrono::microseconds(100);

void wait_until(std::int64_t deadline_ns) {
  const auto asleep_until = deadline_ns - Nanoseconds(kAwake).count();
  if (asleep_until > now_ns()) {
    const timespec wake{asleep_until / 1'000'000'000, asleep_until % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
    }
  }
  while (now_ns() < deadline_ns) {
  }
}

std::span<float> as_floats(const Activation& activation) {
  return {reinterpret_cast<float*>(activation.bytes.data()), activation.bytes.size() / sizeof(float)};
}

Activation make_activation(const wire::TensorSpec& spec) {
  const auto bytes = static_cast<std::size_t>(wire::byte_size(spec));
  const auto counted = static_cast<std::int64_t>(bytes);
  std::shared_ptr<std::byte[]> memory(new std::byte[bytes], [counted](const std::byte* unused) {
    delete[] unused;
    stage::tensor_bytes().remove(counted);
  });
  stage::tensor_bytes().add(counted);
  return {spec, {memory.get(), bytes}, memory};
}

// Elements are treated as words of 23 bits, the fractions of numbers in [1, 2), which every codec can take. Every step
// is a bijection of each word: unlike in floating point, no rounding can hide a difference.

constexpr int kWordBits = 23;
constexpr std::uint32_t kWordMask = (1U << kWordBits) - 1;

/// Sign and exponent count as well: an input may be any number.
std::uint32_t word(float element) {
  const auto bits = std::bit_cast<std::uint32_t>(element);
  constexpr auto kOnes = std::bit_cast<std::uint32_t>(1.0F) >> kWordBits;
  return (bits ^ (bits >> kWordBits) ^ kOnes) & kWordMask;
}

float element(std::uint32_t word) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(1.0F) | (word & kWordMask));
}

std::uint32_t rotate(std::uint32_t word, int bits) {
  return ((word << bits) | (word >> (kWordBits - bits))) & kWordMask;
}

/// Every input element reaches exactly one output element, so no copy of itself can cancel a difference. A larger
/// output takes each element once and is padded; a smaller one takes them in turn.
void transform(std::span<const float> input, std::span<float> output, std::uint32_t key) {
  if (output.size() >= input.size()) {
    for (std::size_t i = 0; i < input.size(); ++i) output[i] = element(rotate(word(input[i]), 7) ^ key);
    std::fill(output.begin() + static_cast<std::ptrdiff_t>(input.size()), output.end(), element(key));
    return;
  }
  std::fill(output.begin(), output.end(), element(key));
  for (std::size_t begin = 0; begin < input.size(); begin += output.size()) {
    const auto count = std::min(output.size(), input.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      output[i] = element(rotate(word(output[i]), 5) ^ word(input[begin + i]));
    }
  }
}

/// Differs from block to block, so a block that is skipped or run twice shows.
std::uint32_t key_of(int block) {
  return 0x9e3779b9U * static_cast<std::uint32_t>(block + 1);
}

/// Maps any word to a number in [0, 1): MurmurHash3's finaliser spreads each bit over the 24 bits of a float.
void make_logits(std::span<float> words) {
  for (auto& number : words) {
    auto hash = word(number);
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
    hash ^= hash >> 16;
    number = static_cast<float>(hash >> 8) * 0x1p-24F;
  }
}

class SyntheticBackend final : public stage::Backend {
 public:
  std::vector<std::string> models() const override { return {std::string(kPattern)}; }

  nlohmann::json configure(const stage::ComputeOptions&) override {
    // The default timer slack of 50 us would be most of the promised accuracy.
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    return {{"library", "synthetic"}, {"threads", 1}};
  }

  experiment::ModelDescription describe(const stage::ModelRequest& request) override {
    if (!request.weights.empty()) {
      throw UsageError(fmt::format("{} has no weights; leave the file {} out", request.model, request.weights));
    }
    if (request.compute != experiment::ComputeMode{}) {
      throw UsageError(
          fmt::format("{} computes nothing that could be {}; leave --compute, --dtype and --memory-format "
                      "out",
                      request.model, experiment::describe(request.compute)));
    }
    if (const auto choice = experiment::parse_data(request.data); choice.own_files()) {
      throw UsageError(
          fmt::format("{} computes nothing of its input; leave the data {} out", request.model, choice.place));
    }
    return synthetic::describe(parse(request.model), request.batch, request.num_classes);
  }

  std::int64_t held_parameter_bytes() const override { return 0; }

  std::optional<host::StageMemory> memory_of(experiment::BlockRange) const override { return host::StageMemory{}; }

  void load(const stage::ModelRequest& request, experiment::BlockRange) override {
    model_ = parse(request.model);
    outputs_.clear();
    for (const auto& block : describe(request).blocks) {
      outputs_.push_back({wire::DType::float32, wire::MemoryFormat::contiguous, block.output_shape});
    }
  }

  std::vector<Activation> make_inputs(const stage::ModelRequest& request, int count) override {
    const wire::TensorSpec spec{wire::DType::float32, wire::MemoryFormat::contiguous, describe(request).input_shape};
    std::mt19937_64 random(request.seed);
    std::vector<Activation> inputs;
    for (int i = 0; i < count; ++i) {
      inputs.push_back(make_activation(spec));
      for (auto& value : as_floats(inputs.back())) value = static_cast<float>(random() >> 40) * 0x1p-24F;
    }
    return inputs;
  }

  Activation allocate(const wire::TensorSpec& spec) override { return make_activation(spec); }

  Activation forward(experiment::BlockRange range, Activation input) override {
    for (int block = range.begin; block < range.end; ++block) {
      const auto index = static_cast<std::size_t>(block);
      const auto deadline = now_ns() + model_.blocks.at(index).duration.count();
      auto output = make_activation(outputs_.at(index));
      transform(as_floats(input), as_floats(output), key_of(block));
      if (index + 1 == outputs_.size()) make_logits(as_floats(output));
      wait_until(deadline);
      input = std::move(output);
    }
    return input;
  }

  Activation encode(Activation output) override { return output; }
  Activation decode(Activation received) override { return received; }

 private:
  SyntheticModel model_;
  std::vector<wire::TensorSpec> outputs_;
};

}  // namespace

std::unique_ptr<stage::Backend> make_synthetic_backend() {
  return std::make_unique<SyntheticBackend>();
}

}  // namespace paretopipe::synthetic
