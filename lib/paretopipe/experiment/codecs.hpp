#pragma once
#include <paretopipe/codec/codec.hpp>
#include <paretopipe/experiment/partition.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace paretopipe::experiment {

/// "channel8", or "none/sort8" if every cut has its own; the same for every cut is written once. Throws UsageError if
/// `text` is no codec.
std::string canonical_codec(const std::string& text);

/// The codecs that `texts` name, each as one text: "sort8+zstd", or "none/sort8" if every cut has its own. Throws
/// UsageError that begins with `path` if a text is no codec, or names the same as another.
std::vector<std::string> canonical_codecs(const std::vector<std::string>& texts, const std::string& path);

/// The same for a model's input, where it crosses a cut; each is one codec.
std::vector<std::string> canonical_input_codecs(const std::vector<std::string>& texts, const std::string& path);

/// `codec` with `input` for the cuts before the first block, which the model's input crosses.
std::string with_input_codec(const std::string& codec, const std::string& input, const SplitPoints& points);

/// For how many cuts a codec's text names a codec. 1: all cuts have the same.
std::size_t codec_count(const std::string& codec);

/// The codec of the cut between stages `cut` and `cut` + 1. Throws UsageError if the text names none for it.
codec::Codec codec_of_cut(const std::string& codec, std::size_t cut);

}  // namespace paretopipe::experiment
