#include <paretopipe/compute/torch/samples.hpp>

#include <ATen/ops/embedding.h>
#include <fmt/format.h>

#include "layers.hpp"
#include "zoo.hpp"

// Liu et al., "RoBERTa: a robustly optimized BERT pretraining approach", arXiv:1907.11692: the base model as a
// classifier of sequences, as in Hugging Face's RobertaForSequenceClassification. No token attends to padding, at any
// position: the embeddings make a mask from the tokens. It crosses every cut before the last layer, besides the
// features.
namespace paretopipe::zoo {

namespace {

constexpr std::int64_t kFeatures = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kHidden = 3072;
constexpr int kLayers = 12;
constexpr std::int64_t kPositions = 514;
constexpr double kDeviation = 0.02;  // of all initial weights, as in BERT
constexpr double kEpsilon = 1e-5;
constexpr double kDropped = 0.1;  // in training
// Added to the scores of padding keys, so that their share becomes exactly 0: exp() is 0 below some -104, and scores
// are far smaller than the rest. It is a number of float16 and bfloat16, too, so that codecs keep it. Minus infinity
// would turn a sequence of only padding into NaN.
constexpr double kLowest = -0x1.fep15;

using compute::Tensors;

Layer roberta_norm(const Scope& scope) {
  return layer_norm(scope, kFeatures, kEpsilon);
}

/// A linear layer with BERT's deviation and biases of zero.
Layer dense(const Scope& scope, std::int64_t in, std::int64_t out) {
  return linear(scope, in, out, Scheme::bert);
}

/// Positions of tokens, N x L: they start after the padding's position and skip padding.
at::Tensor positions_of(const at::Tensor& tokens) {
  const auto counted = tokens.ne(compute::kPadding).to(at::kLong);
  return counted.cumsum(1).mul_(counted).add_(compute::kPadding);
}

/// Maps tokens, N x L numbers, to features and the mask, N x L.
Forward embeddings(const Scope& s) {
  auto words = (s / "word_embeddings").parameter("weight", {kRobertaVocabulary, kFeatures}, kDeviation);
  auto positions = (s / "position_embeddings").parameter("weight", {kPositions, kFeatures}, kDeviation);
  auto types = (s / "token_type_embeddings").parameter("weight", {1, kFeatures}, kDeviation);
  auto normalise = sequence({roberta_norm(s / "LayerNorm"), dropout(s, kDropped)});
  const Forward::OfAll forward = [=](Tensors crossing) -> Tensors {
    const auto& tokens = crossing.front();
    auto x = at::embedding(words, tokens);
    x.add_(types).add_(at::embedding(positions, positions_of(tokens)));
    auto mask = tokens.eq(compute::kPadding).type_as(x).mul_(kLowest);
    return {normalise(std::move(x)), std::move(mask)};
  };
  return forward;
}

std::function<at::Tensor(const at::Tensor& x, const at::Tensor& mask)> attend(const Scope& attention) {
  const auto self = attention / "self";
  auto query = dense(self / "query", kFeatures, kFeatures);
  auto key = dense(self / "key", kFeatures, kFeatures);
  auto value = dense(self / "value", kFeatures, kFeatures);
  auto output = sequence({dense(attention / "output" / "dense", kFeatures, kFeatures), dropout(attention, kDropped)});
  auto kept = dropout(attention, kDropped);
  return [=](const at::Tensor& x, const at::Tensor& mask) {
    return output(zoo::attention(query(x), key(x), value(x), kHeads, mask, kept));
  };
}

/// Unlike ViT's, its norms come after the sums. No block after the last layer needs the mask.
Forward roberta_encoder_layer(const Scope& s, bool last) {
  auto attended = attend(s / "attention");
  auto first_norm = roberta_norm(s / "attention" / "output" / "LayerNorm");
  auto feed_forward = sequence({dense(s / "intermediate" / "dense", kFeatures, kHidden), gelu(),
                                dense(s / "output" / "dense", kHidden, kFeatures), dropout(s, kDropped)});
  auto last_norm = roberta_norm(s / "output" / "LayerNorm");
  const Forward::OfAll forward = [=](Tensors crossing) -> Tensors {
    const auto& x = crossing.front();
    const auto& mask = crossing.back();
    const auto y = first_norm(attended(x, mask).add_(x));
    auto z = last_norm(feed_forward(y).add_(y));
    if (last) return {std::move(z)};
    // Copies the mask, because what a stage sends must not hold the buffer that it received into.
    return {std::move(z), mask.clone()};
  };
  return forward;
}

/// The logits, computed from the first token.
Layer classifier(const Scope& s, std::int64_t num_classes) {
  auto hidden = sequence({dropout(s, kDropped), dense(s / "dense", kFeatures, kFeatures)});
  auto output = sequence({dropout(s, kDropped), dense(s / "out_proj", kFeatures, num_classes)});
  return [=](at::Tensor x) { return output(hidden(x.select(1, 0)).tanh_()); };
}

}  // namespace

std::vector<BlockPlan> roberta_base(std::int64_t num_classes) {
  std::vector<BlockPlan> plan{named_block("roberta.embeddings", embeddings)};
  for (int i = 0; i < kLayers; ++i) {
    plan.push_back(named_block(fmt::format("roberta.encoder.layer.{}", i),
                               [last = i + 1 == kLayers](const Scope& s) { return roberta_encoder_layer(s, last); }));
  }
  plan.push_back(named_block("classifier", [=](const Scope& s) { return classifier(s, num_classes); }));
  return plan;
}

}  // namespace paretopipe::zoo
