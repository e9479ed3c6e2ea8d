#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// eager: operator by operator, as the author wrote it. optimized: every stage's own graph, batch norms folded into the
/// convolutions before them, with the fused and blocked kernels that the library has: what a deployment would run.
enum class Compute { eager, optimized };

/// Of weights and activations. What goes into the model and its result are float32 in any case.
enum class Precision { float32, bfloat16 };

/// Of activations and weights with four dimensions: by channel (NCHW), or by pixel (NHWC).
enum class MemoryFormat { contiguous, channels_last };

/// How stages compute: it decides their numbers to the last bit, so that the unsplit model that a trial is compared
/// with computes in the same way.
struct ComputeMode {
  Compute compute = Compute::eager;
  Precision dtype = Precision::float32;
  MemoryFormat memory_format = MemoryFormat::contiguous;

  bool operator==(const ComputeMode&) const = default;

  /// By how much a split may differ from the unsplit model, as a share of the unsplit model's largest logit. 0 in eager
  /// mode, where a cut changes nothing. Optimized, the kernels of a stage depend on where it begins and ends, so that
  /// sums are rounded in another order. results/README.md has what was measured.
  double relative_tolerance() const;
};

std::string to_string(Compute compute);
std::string to_string(Precision dtype);
std::string to_string(MemoryFormat format);

/// By the names that to_string gives. Throws UsageError that lists them.
Compute parse_compute(const std::string& text);
Precision parse_precision(const std::string& text);
MemoryFormat parse_memory_format(const std::string& text);

/// "optimized bfloat16 channels_last" without what is the default; empty where all of it is. For people.
std::string describe(const ComputeMode& mode);

/// The same without whether graphs are optimised: of what tensors are.
std::string describe_tensors(const ComputeMode& mode);

/// Adds "compute", "dtype" and "memory_format" to an object, each where it is not the default.
void write_compute_mode(nlohmann::json& object, const ComputeMode& mode);

/// The counterpart. Throws UsageError as parse_compute does, and nlohmann's exception for what is no string.
ComputeMode read_compute_mode(const nlohmann::json& object);

}  // namespace paretopipe::config
