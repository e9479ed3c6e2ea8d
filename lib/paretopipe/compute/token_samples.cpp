#include <paretopipe/compute/number_lines.hpp>
#include <paretopipe/compute/token_samples.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>

namespace paretopipe::compute {
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
