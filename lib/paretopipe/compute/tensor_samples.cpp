#include <paretopipe/compute/tensor_samples.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/weights/tensor_file.hpp>

#include <algorithm>

#include <ATen/ops/from_blob.h>
#include <fmt/ranges.h>

namespace paretopipe::compute {
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
    const auto wanted = sample.is_tokens() ? weights::DType::int64 : weights::DType::float32;
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

  weights::TensorFile file_;
  at::Tensor rows_;  ///< uses the file's memory
};

}  // namespace

std::unique_ptr<Samples> open_tensor_samples(const std::filesystem::path& file, const Sample& sample) {
  return std::make_unique<TensorSamples>(file, sample);
}

}  // namespace paretopipe::compute
