#pragma once
#include <paretopipe/stage/backend.hpp>

#include <nlohmann/json.hpp>

namespace paretopipe::compute {

/// Applies the options to LibTorch, malloc and the calling thread, and returns what is in force:
///   backend          "libtorch"
///   torch_version    e.g. "1.13.0"
///   blas             paths of the BLAS libraries mapped into the process; none if LibTorch contains its own
///   mkl              true if LibTorch was built with Intel's MKL, which downloaded LibTorchs contain
///   cpu_capability   the vector instructions that ATen's kernels use, e.g. "AVX2"; null if LibTorch does not say
///   mkldnn           true if oneDNN computes the convolutions
///   convolution_kernels   the names of oneDNN's kernels on this CPU (convolution_kernels.hpp); null if it does not say
///   device           what blocks are computed on, "cpu" or "cuda:0". On a GPU, TF32 is switched off: it would round
///                    float32 to 10 bits of mantissa
///   threads          intra-operator threads
///   interop_threads  1 is always requested
///   flush_denormals  true if every intra-operator thread really computes denormal numbers as zero
///   tune_malloc      true if the thresholds are in force. A process that has set them cannot undo that.
///   omp_wait_policy, glibc_tunables   the environment variables, null if unset
/// Throws UsageError for fewer than one thread, and EnvironmentError for a missing device.
nlohmann::json configure_runtime(const stage::ComputeOptions& options);

/// From the first call on, LibTorch's allocator of host memory counts allocations for tensors in stage::tensor_bytes(),
/// including those in oneDNN's own layouts. Memory that OpenBLAS and oneDNN take for packing and scratch comes from
/// elsewhere and is not counted. Call before other threads use LibTorch.
void count_tensors();

}  // namespace paretopipe::compute
