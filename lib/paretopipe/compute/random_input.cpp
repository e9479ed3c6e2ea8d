#include <paretopipe/compute/hashed_numbers.hpp>
#include <paretopipe/compute/random_input.hpp>

#include <span>
#include <string>

namespace paretopipe::compute {
namespace {

void fill_with_noise(at::Tensor& batch, std::uint64_t key) {
  fill_normal({batch.data_ptr<float>(), static_cast<std::size_t>(batch.numel())}, key);
}

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
    fill_with_noise(batch, key);
  }
  return batch;
}

}  // namespace paretopipe::compute
