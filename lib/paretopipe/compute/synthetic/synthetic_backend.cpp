#include <paretopipe/compute/synthetic/synthetic_backend.hpp>
#include <paretopipe/compute/synthetic/synthetic_model.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>
#include <map>
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

std::vector<wire::TensorSpec> outputs_of(const experiment::ModelDescription& model) {
  std::vector<wire::TensorSpec> outputs;
  for (const auto& block : model.blocks) {
    outputs.push_back({wire::DType::float32, wire::MemoryFormat::contiguous, block.output_shape});
  }
  return outputs;
}

/// Sensitive to every word and to the order in which sums are made.
std::uint32_t mixed(std::uint32_t sum, const Activation& activation) {
  for (const float number : as_floats(activation)) sum = std::rotl(sum, 5) ^ word(number);
  return std::rotl(sum, 11) * 0x9e3779b1U;
}

/// Blocks whose "weight" is a number that enters what they make of their inputs, and whose gradients are sums that
/// depend on all gradients and their order. So a micro-batch that is lost, taken twice, or computed with another
/// version of the weights shows in the digests.
class SyntheticPart final : public stage::TrainingPart {
 public:
  SyntheticPart(SyntheticModel model, const experiment::ModelDescription& description, experiment::BlockRange range)
      : model_(std::move(model)),
        input_{wire::DType::float32, wire::MemoryFormat::contiguous, description.input_shape},
        outputs_(outputs_of(description)),
        range_(range),
        weights_(outputs_.size()),
        gradients_(outputs_.size()) {}

  Activation forward(stage::MicroBatch which, Activation input, experiment::Backward) override {
    auto& kept = kept_[which];
    kept = {input, {}, weights_};
    for (int block = range_.begin; block < range_.end; ++block) {
      const auto index = static_cast<std::size_t>(block);
      const auto deadline = now_ns() + model_.blocks[index].duration.count();
      auto output = make_activation(outputs_[index]);
      transform(as_floats(input), as_floats(output), key_of(block) ^ weights_[index]);
      wait_until(deadline);
      input = std::move(output);
    }
    kept.output = input;
    return input;
  }

  stage::Learned loss(stage::MicroBatch which, std::span<const std::int64_t> labels, double share) override {
    const auto& output = kept_.at(which).output;
    std::uint32_t sum = mixed(0, output);
    for (const auto label : labels) sum = std::rotl(sum, 3) ^ static_cast<std::uint32_t>(label);
    return {share * static_cast<double>(sum) * 0x1p-32, 0};
  }

  Activation backward(stage::MicroBatch which, Activation gradient) override {
    const auto kept = std::move(kept_.extract(which).mapped());
    if (gradient.bytes.empty()) gradient = kept.output;
    for (int block = range_.end; block-- > range_.begin;) {
      const auto index = static_cast<std::size_t>(block);
      const auto deadline = now_ns() + model_.blocks[index].backward.count();
      gradients_[index] = mixed(gradients_[index] ^ kept.weights[index], gradient);
      auto input = make_activation(block == 0 ? input_ : outputs_[index - 1]);
      transform(as_floats(gradient), as_floats(input), key_of(block) ^ kept.weights[index]);
      wait_until(deadline);
      gradient = std::move(input);
    }
    return range_.begin == 0 ? Activation{} : gradient;
  }

  /// Gives each of a word's four bytes as a float. Their sums are exact, so the sum of words is the same in any order.
  std::span<float> gradients() override {
    summed_.clear();
    for (const auto word : gradients_) {
      for (int byte = 0; byte < kBytes; ++byte) summed_.push_back(static_cast<float>((word >> (8 * byte)) & 0xffU));
    }
    return summed_;
  }

  void update(double learning_rate) override {
    for (std::size_t i = 0; i < summed_.size(); ++i) {
      auto& word = gradients_[i / kBytes];
      if (i % kBytes == 0) word = 0;
      word += static_cast<std::uint32_t>(summed_[i]) << (8 * (i % kBytes));
    }
    summed_.clear();
    const auto rate = word(static_cast<float>(learning_rate));
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = std::rotl(weights_[i], 7) ^ gradients_[i] ^ rate;
    std::fill(gradients_.begin(), gradients_.end(), 0);
  }

  std::vector<std::string> digests() const override {
    std::vector<std::string> digests;
    for (int block = range_.begin; block < range_.end; ++block) {
      digests.push_back(fmt::format("{:08x}", weights_[static_cast<std::size_t>(block)]));
    }
    return digests;
  }

  stage::TrainingBytes bytes() const override { return {}; }
  std::vector<stage::NamedState> state() const override { return {}; }

 private:
  /// What a micro-batch needs between its forward and its backward.
  struct Kept {
    Activation input;
    Activation output;
    std::vector<std::uint32_t> weights;
  };

  static constexpr int kBytes = 4;

  SyntheticModel model_;
  wire::TensorSpec input_;
  std::vector<wire::TensorSpec> outputs_;
  experiment::BlockRange range_;
  std::vector<std::uint32_t> weights_, gradients_;
  std::vector<float> summed_;  ///< from gradients() to update()
  std::map<stage::MicroBatch, Kept> kept_;
};

class SyntheticBackend final : public stage::Backend {
 public:
  std::vector<std::string> models() const override { return {"synthetic:DURATION/BYTES,...,DURATION"}; }

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
    outputs_ = outputs_of(describe(request));
  }

  std::unique_ptr<stage::TrainingPart> make_training_part(const stage::ModelRequest& request,
                                                          experiment::BlockRange range,
                                                          const experiment::Training&) override {
    return std::make_unique<SyntheticPart>(parse(request.model), describe(request), range);
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
