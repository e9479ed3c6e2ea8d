#pragma once
#include <paretopipe/stage/backend.hpp>

#include <nlohmann/json.hpp>

namespace paretopipe::compute {

/// Applies the options to LibTorch, to malloc and to the calling thread, and reads back what holds:
///   backend          "libtorch"
///   torch_version    e.g. "1.13.0"
///   blas             paths of the BLAS libraries mapped into the process; none where LibTorch contains one
///   mkl              whether LibTorch was built with Intel's MKL, which downloaded LibTorchs contain
///   cpu_capability   the vector instructions that ATen's kernels use, e.g. "AVX2"; null if LibTorch does not say
///   mkldnn           whether oneDNN computes the convolutions
///   device           what blocks are computed on, "cpu" or "cuda:0"; of a GPU, TF32 is switched off, which would round
///                    float32 to 10 bits of mantissa
///   threads          intra-operator threads
///   interop_threads  always asked to be 1
///   flush_denormals  whether every intra-operator thread really computes denormal numbers as zero
///   tune_malloc      whether the thresholds are in force. They cannot be taken back in a process that set them once.
///   omp_wait_policy, glibc_tunables   the environment variables, null if unset
/// Throws UsageError for fewer than one thread, and EnvironmentError for a device that is not there.
nlohmann::json configure_runtime(const stage::ComputeOptions& options);

/// From the first call on, LibTorch's allocator of host memory counts in stage::tensor_bytes() what is allocated for
/// tensors, those in oneDNN's own layouts included. What OpenBLAS and oneDNN take beside it, for packing and scratch,
/// does not come from there and is not counted. Call before other threads use LibTorch.
void count_tensors();

}  // namespace paretopipe::compute
