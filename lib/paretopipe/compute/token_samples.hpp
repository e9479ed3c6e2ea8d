#pragma once
#include <paretopipe/compute/sample.hpp>

#include <filesystem>
#include <memory>

namespace paretopipe::compute {

/// The token that means nothing and fills short sequences up: RoBERTa's, whose vocabulary is the only one so far.
inline constexpr std::int64_t kPadding = 1;

/// Tokens of a text file, one sample a line (read_number_lines), each as long as the model's sequence: a shorter line
/// is filled up with padding behind its end; of a longer one the end is cut off, but for the last token, so that a
/// sequence that is marked as ended stays so. Throws UsageError, naming the file, for a model that takes no tokens, and
/// for a token outside its vocabulary.
std::unique_ptr<Samples> open_token_samples(const std::filesystem::path& file, const Sample& sample);

}  // namespace paretopipe::compute
