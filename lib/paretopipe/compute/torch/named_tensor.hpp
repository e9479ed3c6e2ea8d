#pragma once
#include <string>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// A tensor of a block with its name in the reference's state_dict, e.g. "layer1.0.conv1.weight".
struct NamedTensor {
  std::string name;
  at::Tensor tensor;  ///< shared with the block's layers: writing to it changes what the block computes
  bool learnable;     ///< true for a parameter, false for a buffer
};

}  // namespace paretopipe::compute
