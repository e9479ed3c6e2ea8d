#pragma once
#include <paretopipe/stage/backend.hpp>

#include <ATen/core/Tensor.h>

#include "program.hpp"

// Converts between the pipeline's tensors and LibTorch's without copying. Call these under c10::InferenceMode.
namespace paretopipe::compute {

/// LibTorch's names for what links carry.
at::ScalarType scalar_type(wire::DType dtype);
at::MemoryFormat memory_format(wire::MemoryFormat format);

/// A tensor on the activation's memory, in the host or on a GPU, which it keeps alive. Throws Error(internal) if the
/// spec and the bytes disagree.
at::Tensor to_tensor(stage::Activation activation);

/// Makes such a tensor for each tensor of an activation, in order.
Tensors to_tensors(stage::Activation activation);

/// An activation on the tensor's memory, which it keeps alive, with the tensor's shape and dtype. A tensor that is not
/// dense in the order of `format` is copied into that order. A `format` other than contiguous needs four dimensions.
stage::Activation to_activation(at::Tensor tensor, wire::MemoryFormat format = wire::MemoryFormat::contiguous);

/// The activation of one or more tensors that cross a cut of a model in this mode; stage::activation_spec defines the
/// memory order.
stage::Activation to_activation(Tensors tensors, const experiment::ComputeMode& mode);

/// Uninitialised memory, aligned to 64 bytes.
stage::Activation allocate_activation(const wire::TensorSpec& spec);

}  // namespace paretopipe::compute
