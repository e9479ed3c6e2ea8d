#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// eager: operator by operator, as the author wrote it. optimized: each stage's own graph with batch norms folded into
/// the preceding convolutions and with the library's fused and blocked kernels, as a deployment would run it.
enum class Compute { eager, optimized };

/// Type of weights and activations. The model's input and result are always float32.
enum class Precision { float32, bfloat16 };

/// Memory order of activations and weights with four dimensions: by channel (NCHW) or by pixel (NHWC).
enum class MemoryFormat { contiguous, channels_last };

/// How stages compute. The mode determines their numbers to the last bit, so the unsplit model that a trial is compared
/// with computes in the same mode.
struct ComputeMode {
  Compute compute = Compute::eager;
  Precision dtype = Precision::float32;
  MemoryFormat memory_format = MemoryFormat::contiguous;

  bool operator==(const ComputeMode&) const = default;

  /// The most that a split may differ from the unsplit model, as a share of the unsplit model's largest logit. It is 0
  /// in eager mode, where a cut changes nothing. In optimized mode, a stage's kernels depend on where the stage begins
  /// and ends, so that sums are rounded in another order. results/README.md has the measured differences.
  double relative_tolerance() const;

  /// The same if the stages and the unsplit model computed on CPUs of different kinds. Each kind has kernels of its
  /// own, also in eager mode. Between amd64 and arm64, eager MobileNetV2 differed by 8.6e-7 in float32, and by 9e-2 in
  /// bfloat16, whose roundings add up over all layers.
  double tolerance_across_cpus() const;
};

std::string to_string(Compute compute);
std::string to_string(Precision dtype);
std::string to_string(MemoryFormat format);

/// Inverses of to_string(). They throw UsageError that lists the names.
Compute parse_compute(const std::string& text);
Precision parse_precision(const std::string& text);
MemoryFormat parse_memory_format(const std::string& text);

/// "optimized bfloat16 channels_last" without the parts that are the default; empty if all are. For people.
std::string describe(const ComputeMode& mode);

/// The same, but only the tensors' type and memory format.
std::string describe_tensors(const ComputeMode& mode);

/// Adds "compute", "dtype" and "memory_format" to an object, each only if it is not the default.
void write_compute_mode(nlohmann::json& object, const ComputeMode& mode);

/// Inverse of write_compute_mode(). Throws UsageError as parse_compute does, and nlohmann's exception for a value that
/// is no string.
ComputeMode read_compute_mode(const nlohmann::json& object);

/// How stages compute, as far as an experiment specifies it.
struct ComputeChoice {
  std::optional<Compute> compute{};  ///< none: `auto`, the model's default
  Precision dtype = Precision::float32;
  MemoryFormat memory_format = MemoryFormat::contiguous;

  bool operator==(const ComputeChoice&) const = default;
};

/// The mode for a model. The default is optimized, as in deployments. results/README.md has the measurement of every
/// split of every model that ships, and every trial checks its own results. The default of a synthetic model is eager,
/// because it computes nothing that could be optimized.
ComputeMode mode_for(const ComputeChoice& choice, std::string_view model);

/// "auto" for none.
std::string to_string(const std::optional<Compute>& compute);

/// Inverse of to_string(). Throws UsageError that lists the names.
std::optional<Compute> parse_compute_choice(const std::string& text);

/// The default device of a stage's blocks.
inline constexpr const char* kCpu = "cpu";

/// Parses "cpu", "cuda" (the first GPU) or "cuda:1", as LibTorch names them, and returns the name with its number.
/// Throws UsageError.
std::string parse_compute_device(const std::string& text);

/// Expands a list of one device for all stages, or one per stage, to `stages` devices. Returns an empty list if all are
/// the CPU, so that nothing differs from an experiment that names none. Throws UsageError for a list of another length.
std::vector<std::string> compute_devices(const std::vector<std::string>& names, int stages);

/// The stage's device in such a list.
std::string compute_device_of(const std::vector<std::string>& devices, int stage);

}  // namespace paretopipe::experiment
