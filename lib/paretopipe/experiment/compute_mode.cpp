#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/model_description.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

constexpr Word<Compute> kComputes[]{{Compute::eager, "eager"}, {Compute::optimized, "optimized"}};
constexpr Word<Precision> kPrecisions[]{{Precision::float32, "float32"}, {Precision::bfloat16, "bfloat16"}};
constexpr Word<MemoryFormat> kMemoryFormats[]{{MemoryFormat::contiguous, "contiguous"},
                                              {MemoryFormat::channels_last, "channels_last"}};

/// Sums in another order differ by float32 roundings, which each layer hands to the next. Roundings of bfloat16 are
/// 65,536 times as coarse.
constexpr double kFloat32Tolerance = 1e-4;
constexpr double kBfloat16Tolerance = 5e-2;
constexpr double kBfloat16ToleranceAcrossCpus = 0.15;

constexpr const char* kAutomatic = "auto";
constexpr std::string_view kCuda = "cuda";
constexpr unsigned kMostGpus = 127;  // LibTorch counts them in eight bits

}  // namespace

double ComputeMode::relative_tolerance() const {
  if (compute == Compute::eager) return 0;
  return dtype == Precision::float32 ? kFloat32Tolerance : kBfloat16Tolerance;
}

double ComputeMode::tolerance_across_cpus() const {
  return dtype == Precision::float32 ? kFloat32Tolerance : kBfloat16ToleranceAcrossCpus;
}

std::string to_string(Compute compute) {
  return word_of(kComputes, compute);
}

std::string to_string(Precision dtype) {
  return word_of(kPrecisions, dtype);
}

std::string to_string(MemoryFormat format) {
  return word_of(kMemoryFormats, format);
}

Compute parse_compute(const std::string& text) {
  return parse_word("compute", kComputes, text);
}

Precision parse_precision(const std::string& text) {
  return parse_word("dtype", kPrecisions, text);
}

MemoryFormat parse_memory_format(const std::string& text) {
  return parse_word("memory_format", kMemoryFormats, text);
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

ComputeMode mode_for(const ComputeChoice& choice, std::string_view model) {
  const auto usual = is_synthetic(model) ? Compute::eager : Compute::optimized;
  return {choice.compute.value_or(usual), choice.dtype, choice.memory_format};
}

std::string to_string(const std::optional<Compute>& compute) {
  return compute ? to_string(*compute) : kAutomatic;
}

std::optional<Compute> parse_compute_choice(const std::string& text) {
  if (text == kAutomatic) return std::nullopt;
  if (const auto found = find_word(kComputes, text)) return found;
  throw UsageError(fmt::format("compute is \"{}\"; it must be auto, eager or optimized{}", text,
                               did_you_mean(text, {kAutomatic, "eager", "optimized"})));
}

std::string parse_compute_device(const std::string& text) {
  if (text == kCpu) return text;
  if (text == kCuda) return "cuda:0";
  const auto digits = text.starts_with("cuda:") ? text.substr(kCuda.size() + 1) : "";
  const auto number = digits.size() <= 3 ? parse_number<unsigned>(digits) : std::nullopt;
  if (number && *number <= kMostGpus) return fmt::format("cuda:{}", *number);
  throw UsageError(
      fmt::format("\"{}\" is not a device; it must be cpu, cuda, or a GPU by its number such as cuda:1", text));
}

std::vector<std::string> compute_devices(const std::vector<std::string>& names, int stages) {
  const auto count = static_cast<std::size_t>(stages);
  if (names.size() > 1 && names.size() != count) {
    throw UsageError(fmt::format("{} devices are named; it must be one for all stages, or one for each of the {}",
                                 names.size(), stages));
  }
  std::vector<std::string> devices;
  for (const auto& name : names) devices.push_back(parse_compute_device(name));
  if (devices.size() == 1) devices.resize(count, devices.front());
  const bool only_cpu = std::all_of(devices.begin(), devices.end(), [](const auto& device) { return device == kCpu; });
  return only_cpu ? std::vector<std::string>{} : devices;
}

std::string compute_device_of(const std::vector<std::string>& devices, int stage) {
  return devices.empty() ? kCpu : devices.at(static_cast<std::size_t>(stage));
}

}  // namespace paretopipe::experiment
