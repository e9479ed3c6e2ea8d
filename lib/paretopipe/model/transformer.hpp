#pragma once
#include <paretopipe/model/layers.hpp>

// Layers of transformer encoders on N x L x D: N sequences of L tokens with D features. In evaluation mode, float32.
namespace paretopipe::model {

/// Normalises over the last dimension.
Layer layer_norm(const Scope& scope, std::int64_t features, double epsilon);

Layer gelu();  ///< exact, with the error function

/// Computes softmax(q k^T / sqrt(d) + mask) v for each head. q, k and v are N x L x D; each head has d = D / heads
/// consecutive features. The mask, N x L, holds what is added to all scores of each token's key; an undefined mask adds
/// nothing. This is no Layer: it has no weights.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     const at::Tensor& mask = {});

/// torch.nn.MultiheadAttention of a sequence with itself, without a mask, batch first.
Layer self_attention(const Scope& scope, std::int64_t features, std::int64_t heads);

}  // namespace paretopipe::model
