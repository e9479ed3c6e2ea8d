#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "block.hpp"

namespace paretopipe::zoo {

// The layers of the architectures, with the meaning and the tensor names of torch.nn's modules of the same name, in
// evaluation mode unless their scope is for training. They are thin functions over ATen instead of torch::nn, which
// initialises every weight from the global generator on construction and whose headers take several times as long to
// compile. All map N x C x H x W to N x C x H x W (linear: N x C, or N x L x C for sequences of length L), in float32.

using Pair = std::array<std::int64_t, 2>;  ///< height, width

constexpr Pair square(std::int64_t side) {
  return {side, side};
}

struct ConvShape {
  std::int64_t in;
  std::int64_t out;
  Pair kernel = square(1);
  Pair stride = square(1);
  Pair padding = square(0);
  std::int64_t groups = 1;
};

struct PoolShape {
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding = 0;
};

Layer conv2d(const Scope& scope, const ConvShape& shape, Scheme scheme);  ///< without bias
Layer conv2d_with_bias(const Scope& scope, const ConvShape& shape, Scheme scheme);
Layer batch_norm2d(const Scope& scope, std::int64_t channels, double epsilon = 1e-5);
Layer linear(const Scope& scope, std::int64_t in, std::int64_t out, Scheme scheme);
Layer max_pool2d(const PoolShape& shape);
Layer avg_pool2d(const PoolShape& shape);  ///< padding counts as zeros
Layer adaptive_avg_pool2d(std::int64_t side);
Layer relu();                                           ///< in place, except where autograd needs the input
Layer relu6();                                          ///< in place
Layer dropout(const Scope& scope, double probability);  ///< returns its argument in evaluation mode
Layer flatten();                                        ///< all but the batch dimension; a view
Layer linear_relu(const Scope& scope, std::int64_t in, std::int64_t out, Scheme scheme);

/// The end of most networks: the mean of each channel, then a linear layer.
Layer pooled_linear(const Scope& scope, std::int64_t in, std::int64_t out, Scheme scheme);

/// Runs layers one after another.
Layer sequence(std::vector<Layer> layers);

/// Runs blocks one after another, as `sequence` runs layers.
Forward chain(std::vector<Forward> blocks);

/// Runs all branches on the same input, which none of them may overwrite, and joins their outputs along the channels.
Layer concat(std::vector<Layer> branches);

// Layers of transformer encoders on N x L x D: N sequences of L tokens with D features. In float32.

/// Normalises over the last dimension.
Layer layer_norm(const Scope& scope, std::int64_t features, double epsilon);

Layer gelu();  ///< exact, with the error function

/// Computes softmax(q k^T / sqrt(d) + mask) v for each head. q, k and v are N x L x D; each head has d = D / heads
/// consecutive features. The mask, N x L, holds what is added to all scores of each token's key; an undefined mask adds
/// nothing. `kept`, if given, is applied to the softmax. This is no Layer: it has no weights.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     const at::Tensor& mask = {}, const Layer& kept = {});

/// torch.nn.MultiheadAttention of a sequence with itself, without a mask, batch first.
Layer self_attention(const Scope& scope, std::int64_t features, std::int64_t heads);

}  // namespace paretopipe::zoo
