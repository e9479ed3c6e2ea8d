#include "compute_options.hpp"

namespace paretopipe::cli {

void add_compute_options(CLI::App& command, ComputeOptions& options, const std::string& group) {
  command
      .add_option("--compute", options.compute,
                  "eager, or optimized: each stage's own graph with fused and blocked kernels (eager)")
      ->group(group);
  command.add_option("--dtype", options.dtype, "Type of weights and activations: float32 or bfloat16 (float32)")
      ->group(group);
  command
      .add_option("--memory-format", options.memory_format,
                  "Order of images in memory: contiguous or channels_last (contiguous)")
      ->group(group);
}

void override_compute(config::ComputeMode& mode, const ComputeOptions& options) {
  if (options.compute) mode.compute = config::parse_compute(*options.compute);
  if (options.dtype) mode.dtype = config::parse_precision(*options.dtype);
  if (options.memory_format) mode.memory_format = config::parse_memory_format(*options.memory_format);
}

}  // namespace paretopipe::cli
