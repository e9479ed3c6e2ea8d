#pragma once
#include <paretopipe/compute/program.hpp>
#include <paretopipe/stage/backend.hpp>

#include <ATen/core/Tensor.h>

// Between the pipeline's view of a tensor and LibTorch's, without copying. Call these under c10::InferenceMode.
namespace paretopipe::compute {

/// A tensor on the activation's memory, the host's or a GPU's, which it keeps alive. Throws Error(internal) if spec and
/// bytes disagree.
at::Tensor to_tensor(stage::Activation activation);

/// The same of all tensors of an activation, in order.
Tensors to_tensors(stage::Activation activation);

/// The tensor's memory as an activation that keeps it alive; shapes and dtype are the tensor's. A tensor that is not
/// dense in the order of `format`, which takes four dimensions unless it is contiguous, is copied into it.
stage::Activation to_activation(at::Tensor tensor, wire::MemoryFormat format = wire::MemoryFormat::contiguous);

/// What crosses a cut of a model that is computed so, from one tensor on: stage::activation_spec says in which order.
stage::Activation to_activation(Tensors tensors, const config::ComputeMode& mode);

/// Uninitialised memory, aligned to 64 bytes.
stage::Activation allocate_activation(const wire::TensorSpec& spec);

}  // namespace paretopipe::compute
