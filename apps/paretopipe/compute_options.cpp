#include "compute_options.hpp"

namespace paretopipe::cli {

void add_compute_options(CLI::App& command, ComputeOptions& options, const std::string& group) {
  command
      .add_option(
          "--compute", options.compute,
          "eager: operator by operator; optimized: each stage's own graph with fused and blocked kernels; auto: "
          "optimized, but for synthetic models (auto)")
      ->group(group);
  command.add_option("--dtype", options.dtype, "Type of weights and activations: float32 or bfloat16 (float32)")
      ->group(group);
  command
      .add_option("--memory-format", options.memory_format,
                  "Order of images in memory: contiguous or channels_last (contiguous)")
      ->group(group);
}

void override_compute(experiment::ComputeChoice& choice, const ComputeOptions& options) {
  if (options.compute) choice.compute = experiment::parse_compute_choice(*options.compute);
  if (options.dtype) choice.dtype = experiment::parse_precision(*options.dtype);
  if (options.memory_format) choice.memory_format = experiment::parse_memory_format(*options.memory_format);
}

}  // namespace paretopipe::cli
