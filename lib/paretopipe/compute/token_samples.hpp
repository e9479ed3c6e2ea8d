#pragma once
#include <paretopipe/compute/sample.hpp>

#include <filesystem>
#include <memory>

namespace paretopipe::compute {

/// The token that pads short sequences: RoBERTa's, whose vocabulary is the only one so far.
inline constexpr std::int64_t kPadding = 1;

/// Opens the tokens of a text file, one sample per line (read_number_lines), each brought to the length of the model's
/// sequence. A shorter line is padded at its end. A longer line is truncated but keeps its last token, so that a
/// sequence with an end mark still has it. Throws UsageError, naming the file, for a model that takes no tokens, and
/// for a token outside its vocabulary.
std::unique_ptr<Samples> open_token_samples(const std::filesystem::path& file, const Sample& sample);

}  // namespace paretopipe::compute
