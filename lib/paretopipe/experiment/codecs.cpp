#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/codecs.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

constexpr char kBetweenCuts = '/';

std::vector<std::string> of_each_cut(std::string_view text) {
  const auto parts = split(text, kBetweenCuts);
  return {parts.begin(), parts.end()};
}

/// A codec that every cut has is written once.
std::string joined(const std::vector<std::string>& codecs) {
  if (std::equal(codecs.begin() + 1, codecs.end(), codecs.begin())) return codecs.front();
  return fmt::format("{}", fmt::join(codecs, "/"));
}

std::string canonical(const std::string& text) {
  for (const auto& part : of_each_cut(text)) {
    if (!codec::parse(part).of_images()) continue;
    throw UsageError(fmt::format("{} is for a model's input; name it in --codec-input", part));
  }
  return canonical_codec(text);
}

std::string canonical_input(const std::string& text) {
  return to_string(codec::parse(text));
}

std::vector<std::string> canonical_list(const std::vector<std::string>& texts, const std::string& path,
                                        std::string (*canonical)(const std::string&)) {
  if (texts.empty()) throw UsageError(fmt::format("{} is empty; name at least one codec, such as none", path));
  std::vector<std::string> codecs;
  for (const auto& text : texts) {
    codecs.push_back(with_prefix(path + ": ", [&] { return canonical(text); }));
    if (std::find(codecs.begin(), codecs.end() - 1, codecs.back()) != codecs.end() - 1) {
      throw UsageError(fmt::format("{} holds {} twice", path, codecs.back()));
    }
  }
  return codecs;
}

}  // namespace

std::string canonical_codec(const std::string& text) {
  std::vector<std::string> codecs;
  for (const auto& part : of_each_cut(text)) codecs.push_back(to_string(codec::parse(part)));
  return joined(codecs);
}

std::vector<std::string> canonical_codecs(const std::vector<std::string>& texts, const std::string& path) {
  return canonical_list(texts, path, canonical);
}

std::vector<std::string> canonical_input_codecs(const std::vector<std::string>& texts, const std::string& path) {
  return canonical_list(texts, path, canonical_input);
}

std::string with_input_codec(const std::string& codec, const std::string& input, const SplitPoints& points) {
  auto codecs = of_each_cut(codec);
  if (codecs.size() == 1) codecs.resize(points.size(), codecs.front());
  for (std::size_t cut = 0; cut < points.size(); ++cut) {
    if (points[cut] == 0) codecs.at(cut) = input;
  }
  return joined(codecs);
}

std::size_t codec_count(const std::string& codec) {
  return of_each_cut(codec).size();
}

codec::Codec codec_of_cut(const std::string& codec, std::size_t cut) {
  const auto codecs = of_each_cut(codec);
  if (codecs.size() == 1) return codec::parse(codecs.front());
  if (cut < codecs.size()) return codec::parse(codecs[cut]);
  throw UsageError(fmt::format("codec {} has none for cut {}", codec, cut + 1));
}

}  // namespace paretopipe::experiment
