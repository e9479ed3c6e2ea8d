#pragma once
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::compute {

/// The names of the kernels with which oneDNN computes a convolution of one pixel, of 3×3 pixels and by channel in
/// float32 on this CPU, such as "jit:avx2", each once. "gemm:ref" and "ref:any" are its reference kernels, which it has
/// for every CPU and which are many times slower: oneDNN without the Arm Compute Library has no others for the CPUs of
/// most boards. They are found by computing such convolutions, because LibTorch has no interface that tells. Absent if
/// LibTorch has no oneDNN, or one whose log cannot be switched on. While the first call lasts, what other threads write
/// to stdout is lost. Later calls only repeat its answer.
std::optional<std::vector<std::string>> convolution_kernels();

/// The kernels that oneDNN's log names for the convolutions that it executed, in order of appearance, each once.
std::vector<std::string> kernels_in_log(const std::string& log);

}  // namespace paretopipe::compute
