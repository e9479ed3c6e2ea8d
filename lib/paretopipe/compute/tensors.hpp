#pragma once
#include <paretopipe/stage/backend.hpp>

#include <ATen/core/Tensor.h>

// Between the pipeline's view of a tensor and LibTorch's, without copying. Call these under c10::InferenceMode.
namespace paretopipe::compute {

/// A tensor on the activation's memory, which it keeps alive. Throws Error(internal) if spec and bytes disagree.
at::Tensor to_tensor(stage::Activation activation);

/// The tensor's memory as an activation that keeps it alive; shapes and dtype are the tensor's. Dense NCHW and dense
/// channels-last tensors are taken as they are, others are copied into NCHW order.
stage::Activation to_activation(at::Tensor tensor);

/// Uninitialised memory, aligned to 64 bytes.
stage::Activation allocate_activation(const wire::TensorSpec& spec);

}  // namespace paretopipe::compute
