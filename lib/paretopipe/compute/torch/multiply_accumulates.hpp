#pragma once
#include <cstdint>

#include <ATen/record_function.h>

namespace paretopipe::compute {

/// Counts the multiply-accumulates of the convolutions and matrix products that LibTorch runs on this thread during the
/// object's life. Operators are seen as LibTorch's profiler sees them, after dispatch, so that what is counted is what
/// was computed. Element-wise work (batch norm, activations, pooling) is not counted, as is usual. Must not be nested.
class MultiplyAccumulateCounter {
 public:
  MultiplyAccumulateCounter();
  ~MultiplyAccumulateCounter();
  MultiplyAccumulateCounter(const MultiplyAccumulateCounter&) = delete;
  MultiplyAccumulateCounter& operator=(const MultiplyAccumulateCounter&) = delete;

  /// The count since construction or since the last call.
  std::int64_t take();

 private:
  at::CallbackHandle handle_;
};

}  // namespace paretopipe::compute
