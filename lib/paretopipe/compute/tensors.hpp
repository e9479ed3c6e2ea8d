#pragma once
#include <paretopipe/stage/backend.hpp>

#include <ATen/core/Tensor.h>

// Between the pipeline's view of a tensor and LibTorch's, without copying. Call these under c10::InferenceMode.
namespace paretopipe::compute {

/// A tensor on the activation's memory, which it keeps alive. Throws Error(internal) if spec and bytes disagree.
at::Tensor to_tensor(stage::Activation activation);

/// The tensor's memory as an activation that keeps it alive; shapes and dtype are the tensor's. A tensor that is not
/// dense in the order of `format`, which takes four dimensions unless it is contiguous, is copied into it.
stage::Activation to_activation(at::Tensor tensor, wire::MemoryFormat format = wire::MemoryFormat::contiguous);

/// Uninitialised memory, aligned to 64 bytes.
stage::Activation allocate_activation(const wire::TensorSpec& spec);

}  // namespace paretopipe::compute
