#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/torch/samples.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>

#include <algorithm>
#include <string>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::compute {

at::Tensor empty_batch(const Sample& sample, std::int64_t size) {
  auto shape = sample.shape;
  shape.insert(shape.begin(), size);
  return at::empty(shape, sample.is_tokens() ? at::kLong : at::kFloat);
}

namespace {

constexpr std::string_view kBlanks = " \t";

[[noreturn]] void refuse(const std::filesystem::path& file, std::size_t line, const std::string& reason) {
  throw UsageError(fmt::format("read numbers from {}: line {} {}", file.string(), line, reason));
}

/// Removes the first line from `rest` and returns it.
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  auto line = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const auto word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

}  // namespace

std::vector<std::vector<std::int64_t>> read_number_lines(const std::filesystem::path& file) {
  const files::MappedFile mapped(file);
  auto rest = files::text_of(mapped.bytes());
  if (rest.empty()) throw UsageError(fmt::format("read numbers from {}: it is empty", file.string()));
  std::vector<std::vector<std::int64_t>> lines;
  while (!rest.empty()) {
    auto line = take_line(rest);
    auto& numbers = lines.emplace_back();
    for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
      const auto number = parse_number<std::int64_t>(word);
      if (!number || *number < 0) {
        refuse(file, lines.size(), fmt::format("holds {}, no whole number from 0", files::in_quotes(word)));
      }
      numbers.push_back(*number);
    }
    if (numbers.empty()) refuse(file, lines.size(), "holds no number");
  }
  return lines;
}

std::vector<std::int64_t> read_labels(const std::filesystem::path& file) {
  std::vector<std::int64_t> labels;
  for (const auto& numbers : read_number_lines(file)) {
    if (numbers.size() > 1) {
      refuse(file, labels.size() + 1, fmt::format("holds {} numbers, not the class of one sample", numbers.size()));
    }
    labels.push_back(numbers.front());
  }
  return labels;
}

float hashed_normal(std::uint64_t key, std::uint64_t index) {
  const std::uint64_t bits = hashed_bits(key, index);
  std::int64_t sum = 0;
  for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int64_t>((bits >> shift) & 0xffff);
  // Mean 4 * 65535 / 2; the variance of the sum is 4 * 65536^2 / 12, up to 2e-10.
  constexpr float kScale = 1.7320508F / 65536;
  return static_cast<float>(sum - 131070) * kScale;
}

std::uint64_t sequence_key(std::uint64_t seed, std::string_view owner, std::string_view name) {
  return fnv1a64(fmt::format("{}/{}/{}", seed, owner, name));
}

void fill_uniform(std::span<float> values, std::uint64_t key, float bound) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = bound * hashed_uniform(key, i);
}

void fill_normal(std::span<float> values, std::uint64_t key) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = hashed_normal(key, i);
}

namespace {

/// Draws tokens beyond the first four of the vocabulary, which mean begin, padding, end and unknown. Every sequence
/// starts with begin and stops with end.
void fill_with_tokens(at::Tensor& batch, std::int64_t vocabulary, std::uint64_t key) {
  constexpr std::int64_t kBegin = 0;
  constexpr std::int64_t kEnd = 2;
  constexpr std::int64_t kFirstWord = 4;
  const std::span tokens(batch.data_ptr<std::int64_t>(), static_cast<std::size_t>(batch.numel()));
  const auto words = static_cast<std::uint64_t>(vocabulary - kFirstWord);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = kFirstWord + static_cast<std::int64_t>(hashed_bits(key, i) % words);
  }
  batch.select(1, 0).fill_(kBegin);
  batch.select(1, -1).fill_(kEnd);
}

}  // namespace

at::Tensor random_input(const Sample& sample, std::int64_t size, std::uint64_t seed, int index) {
  auto batch = empty_batch(sample, size);
  const auto key = sequence_key(seed, "input", std::to_string(index));
  if (sample.is_tokens()) {
    fill_with_tokens(batch, sample.vocabulary, key);
  } else {
    fill_normal({batch.data_ptr<float>(), static_cast<std::size_t>(batch.numel())}, key);
  }
  return batch;
}

namespace {

/// Limits the rows: a strided tensor that repeats the same few bytes could claim any number.
constexpr std::int64_t kMostSamples = 10'000'000;

class TensorSamples final : public Samples {
 public:
  TensorSamples(const std::filesystem::path& file, const Sample& sample) : file_(file) {
    check_type(sample);
    check_shape(sample);
    try {
      verify(file_.tensor());
    } catch (const UsageError& error) {
      refuse(fmt::format("it is {}", error.what()));
    }
    const auto& stored = file_.tensor();
    // from_blob takes writable memory; the tensor on it is only read.
    auto* memory = const_cast<std::byte*>(stored.bytes.data());
    rows_ = at::from_blob(memory, stored.shape, stored.strides, sample.is_tokens() ? at::kLong : at::kFloat);
    if (sample.is_tokens()) check_tokens(sample.vocabulary);
  }

  std::int64_t count() const override { return rows_.size(0); }

  void write(std::int64_t index, at::Tensor row) const override { row.copy_(rows_.select(0, index)); }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw UsageError(fmt::format("read samples from {}: {}", file_.path().string(), reason));
  }

  void check_type(const Sample& sample) const {
    const auto wanted = sample.is_tokens() ? files::DType::int64 : files::DType::float32;
    const auto found = file_.tensor().dtype;
    if (found == wanted) return;
    refuse(fmt::format("it is {}, and the model takes {}; save tensor.to(torch.{})", to_string(found),
                       to_string(wanted), to_string(wanted)));
  }

  void check_shape(const Sample& sample) const {
    const auto& found = file_.tensor().shape;
    const bool fits = found.size() == sample.shape.size() + 1 && found.front() > 0 && found.front() <= kMostSamples &&
                      std::equal(sample.shape.begin(), sample.shape.end(), found.begin() + 1);
    if (fits) return;
    refuse(fmt::format("its shape is [{}], and the model takes [samples, {}]", fmt::join(found, ", "),
                       fmt::join(sample.shape, ", ")));
  }

  void check_tokens(std::int64_t vocabulary) const {
    const auto least = rows_.min().item<std::int64_t>();
    const auto most = rows_.max().item<std::int64_t>();
    if (least >= 0 && most < vocabulary) return;
    refuse(fmt::format("its tokens are {} to {}, and the model knows 0 to {}", least, most, vocabulary - 1));
  }

  files::TensorFile file_;
  at::Tensor rows_;  ///< uses the file's memory
};

}  // namespace

std::unique_ptr<Samples> open_tensor_samples(const std::filesystem::path& file, const Sample& sample) {
  return std::make_unique<TensorSamples>(file, sample);
}

namespace {

class TokenSamples final : public Samples {
 public:
  TokenSamples(const std::filesystem::path& file, const Sample& sample) : lines_(read_number_lines(file)) {
    const auto length = static_cast<std::size_t>(sample.shape.at(0));
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      auto& tokens = lines_[i];
      check(file, i + 1, tokens, sample.vocabulary);
      if (tokens.size() > length) tokens[length - 1] = tokens.back();
      tokens.resize(length, kPadding);
    }
  }

  std::int64_t count() const override { return static_cast<std::int64_t>(lines_.size()); }

  void write(std::int64_t index, at::Tensor row) const override {
    std::ranges::copy(lines_.at(static_cast<std::size_t>(index)), row.data_ptr<std::int64_t>());
  }

 private:
  static void check(const std::filesystem::path& file, std::size_t line, const std::vector<std::int64_t>& tokens,
                    std::int64_t vocabulary) {
    const auto most = std::ranges::max(tokens);
    if (most < vocabulary) return;
    throw UsageError(fmt::format("read tokens from {}: line {} holds {}, and the model knows 0 to {}", file.string(),
                                 line, most, vocabulary - 1));
  }

  std::vector<std::vector<std::int64_t>> lines_;  ///< each of the length of the model's sequence
};

}  // namespace

std::unique_ptr<Samples> open_token_samples(const std::filesystem::path& file, const Sample& sample) {
  return std::make_unique<TokenSamples>(file, sample);
}

}  // namespace paretopipe::compute
