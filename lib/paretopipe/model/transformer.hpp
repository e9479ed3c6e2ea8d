#pragma once
#include <paretopipe/model/layers.hpp>

// Layers of transformers' encoders, on N x L x D: N sequences of L tokens with D features. In evaluation mode, float32.
namespace paretopipe::model {

/// Over the last dimension.
Layer layer_norm(const Scope& scope, std::int64_t features, double epsilon);

Layer gelu();  ///< exact, with the error function

/// softmax(q k^T / sqrt(d) + mask) v for each head, whose d = D / heads features lie together in each of q, k and v,
/// which are N x L x D. The mask, N x L, says of each token what is added to all scores of its key; undefined, nothing
/// is. Not a layer: it has no weights.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     const at::Tensor& mask = {});

/// torch.nn.MultiheadAttention of a sequence with itself, without a mask, batch first.
Layer self_attention(const Scope& scope, std::int64_t features, std::int64_t heads);

}  // namespace paretopipe::model
