#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// What a model takes for each row of a batch.
struct Sample {
  std::vector<std::int64_t> shape;  ///< without the batch dimension
  std::int64_t vocabulary = 0;      ///< samples are int64 tokens below it; 0: float32 numbers

  bool is_tokens() const { return vocabulary > 0; }
};

/// Uninitialised, contiguous memory for `size` samples.
at::Tensor empty_batch(const Sample& sample, std::int64_t size);

/// The samples to compute on, in a fixed order: a data set, or the user's own files. Call under c10::InferenceMode.
class Samples {
 public:
  virtual ~Samples() = default;

  virtual std::int64_t count() const = 0;

  /// Writes sample `index`, from 0 to count() - 1, to `row`, which has the sample's shape. Throws UsageError or
  /// EnvironmentError for a damaged file.
  virtual void write(std::int64_t index, at::Tensor row) const = 0;

  /// The class of every sample, if the data contain the classes.
  virtual std::vector<std::int64_t> labels() const { return {}; }
};

/// Reads the non-negative whole numbers of a text file, line by line: digits, separated by blanks (spaces, tabs). Lines
/// end in LF or CRLF; the last line may lack its end. Throws UsageError, naming the file and the line, for an empty
/// file, a line without a number, anything that is no number or not below 2^63, and a file that cannot be read.
std::vector<std::vector<std::int64_t>> read_number_lines(const std::filesystem::path& file);

/// Reads one number per line: the classes of samples, in their order.
std::vector<std::int64_t> read_labels(const std::filesystem::path& file);

/// The `index`-th number of the pseudo-random sequence named by `key`: uniform in [-1, 1) and a multiple of 2^-23,
/// hence exact in float32. It is the output function of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014) applied to a counter. It uses only integer arithmetic, so that a Raspberry Pi and
/// an AVX-512 server agree on every bit. LibTorch's generators guarantee this neither across CPU types nor across
/// releases.
inline std::uint64_t hashed_bits(std::uint64_t key, std::uint64_t index) {
  std::uint64_t z = key + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

inline float hashed_uniform(std::uint64_t key, std::uint64_t index) {
  return static_cast<float>(static_cast<std::int64_t>(hashed_bits(key, index) >> 40) - (1 << 23)) * 0x1p-23F;
}

/// Approximately standard normal: a centred and scaled sum of four 16-bit uniforms. Equally portable.
float hashed_normal(std::uint64_t key, std::uint64_t index);

/// The key of one tensor's sequence.
std::uint64_t sequence_key(std::uint64_t seed, std::string_view owner, std::string_view name);

/// values[i] = bound * hashed_uniform(key, i)
void fill_uniform(std::span<float> values, std::uint64_t key, float bound);

/// values[i] = hashed_normal(key, i)
void fill_normal(std::span<float> values, std::uint64_t key);

/// Batch `index` of a seed's endless sequence: unit-variance noise, or random tokens of the vocabulary between the
/// tokens that begin and end a sequence.
at::Tensor random_input(const Sample& sample, std::int64_t size, std::uint64_t seed, int index);

/// Opens the rows of the only tensor of a file (files::TensorFile): [samples, ...the model's input], float32, or
/// int64 for tokens. They are used unchanged. Throws UsageError, naming the file, for another shape or type, for a
/// token outside the vocabulary, and as TensorFile does.
std::unique_ptr<Samples> open_tensor_samples(const std::filesystem::path& file, const Sample& sample);

/// The token that pads short sequences: RoBERTa's, whose vocabulary is the only one so far.
inline constexpr std::int64_t kPadding = 1;

/// Opens the tokens of a text file, one sample per line (read_number_lines), each brought to the length of the model's
/// sequence. A shorter line is padded at its end. A longer line is truncated but keeps its last token, so that a
/// sequence with an end mark still has it. Throws UsageError, naming the file, for a model that takes no tokens, and
/// for a token outside its vocabulary.
std::unique_ptr<Samples> open_token_samples(const std::filesystem::path& file, const Sample& sample);

}  // namespace paretopipe::compute
