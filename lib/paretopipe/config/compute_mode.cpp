#include <paretopipe/config/compute_mode.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/suggest.hpp>

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::config {
namespace {

template <class Value>
using Names = std::array<std::pair<Value, const char*>, 2>;

constexpr Names<Compute> kComputes{{{Compute::eager, "eager"}, {Compute::optimized, "optimized"}}};
constexpr Names<Precision> kPrecisions{{{Precision::float32, "float32"}, {Precision::bfloat16, "bfloat16"}}};
constexpr Names<MemoryFormat> kMemoryFormats{
    {{MemoryFormat::contiguous, "contiguous"}, {MemoryFormat::channels_last, "channels_last"}}};

template <class Value>
std::string name_of(const Names<Value>& names, Value value) {
  return names[0].first == value ? names[0].second : names[1].second;
}

template <class Value>
Value find(const Names<Value>& names, const char* key, const std::string& text) {
  std::vector<std::string> known;
  for (const auto& [value, name] : names) {
    if (text == name) return value;
    known.emplace_back(name);
  }
  throw UsageError(
      fmt::format("{} is \"{}\"; it must be {}{}", key, text, fmt::join(known, " or "), did_you_mean(text, known)));
}

/// Sums in another order differ by float32 roundings, which each layer hands to the next. Roundings of bfloat16 are
/// 65,536 times as coarse.
constexpr double kFloat32Tolerance = 1e-4;
constexpr double kBfloat16Tolerance = 5e-2;

}  // namespace

double ComputeMode::relative_tolerance() const {
  if (compute == Compute::eager) return 0;
  return dtype == Precision::float32 ? kFloat32Tolerance : kBfloat16Tolerance;
}

std::string to_string(Compute compute) {
  return name_of(kComputes, compute);
}

std::string to_string(Precision dtype) {
  return name_of(kPrecisions, dtype);
}

std::string to_string(MemoryFormat format) {
  return name_of(kMemoryFormats, format);
}

Compute parse_compute(const std::string& text) {
  return find(kComputes, "compute", text);
}

Precision parse_precision(const std::string& text) {
  return find(kPrecisions, "dtype", text);
}

MemoryFormat parse_memory_format(const std::string& text) {
  return find(kMemoryFormats, "memory_format", text);
}

std::string describe(const ComputeMode& mode) {
  std::vector<std::string> words;
  if (mode.compute != Compute{}) words.push_back(to_string(mode.compute));
  if (mode.dtype != Precision{}) words.push_back(to_string(mode.dtype));
  if (mode.memory_format != MemoryFormat{}) words.push_back(to_string(mode.memory_format));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string describe_tensors(const ComputeMode& mode) {
  return describe({.dtype = mode.dtype, .memory_format = mode.memory_format});
}

void write_compute_mode(nlohmann::json& object, const ComputeMode& mode) {
  if (mode.compute != Compute{}) object["compute"] = to_string(mode.compute);
  if (mode.dtype != Precision{}) object["dtype"] = to_string(mode.dtype);
  if (mode.memory_format != MemoryFormat{}) object["memory_format"] = to_string(mode.memory_format);
}

ComputeMode read_compute_mode(const nlohmann::json& object) {
  const auto text = [&](const char* key, const std::string& usual) { return object.value(key, usual); };
  return {parse_compute(text("compute", to_string(Compute{}))), parse_precision(text("dtype", to_string(Precision{}))),
          parse_memory_format(text("memory_format", to_string(MemoryFormat{})))};
}

}  // namespace paretopipe::config
