#include <paretopipe/model/transformer.hpp>
#include <paretopipe/model/zoo.hpp>

#include <ATen/ops/embedding.h>
#include <fmt/format.h>

// Liu et al., "RoBERTa: a robustly optimized BERT pretraining approach", arXiv:1907.11692: the base model as a
// classifier of sequences, as Hugging Face's RobertaForSequenceClassification has it. Sequences are full: nothing is
// padding, so there is no mask, and positions count from the first.
namespace paretopipe::model {
namespace {

constexpr std::int64_t kFeatures = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kHidden = 3072;
constexpr int kLayers = 12;
constexpr std::int64_t kPositions = 514;
constexpr std::int64_t kFirstPosition = 2;  // those before are the padding's
constexpr double kDeviation = 0.02;         // of all initial weights, as in BERT
constexpr double kEpsilon = 1e-5;

Layer norm(const Scope& scope) {
  return layer_norm(scope, kFeatures, kEpsilon);
}

/// With the deviation of BERT, and biases of zero.
Layer dense(const Scope& scope, std::int64_t in, std::int64_t out) {
  return linear(scope, in, out, Scheme::bert);
}

/// Tokens, N x L numbers, to features.
Layer embeddings(const Scope& s) {
  auto words = (s / "word_embeddings").parameter("weight", {kRobertaVocabulary, kFeatures}, kDeviation);
  auto positions = (s / "position_embeddings").parameter("weight", {kPositions, kFeatures}, kDeviation);
  auto types = (s / "token_type_embeddings").parameter("weight", {1, kFeatures}, kDeviation);
  auto normalise = norm(s / "LayerNorm");
  return [=](at::Tensor tokens) {
    auto x = at::embedding(words, tokens);
    x.add_(types).add_(positions.narrow(0, kFirstPosition, tokens.size(1)));
    return normalise(std::move(x));
  };
}

Layer attend(const Scope& attention) {
  const auto self = attention / "self";
  auto query = dense(self / "query", kFeatures, kFeatures);
  auto key = dense(self / "key", kFeatures, kFeatures);
  auto value = dense(self / "value", kFeatures, kFeatures);
  auto output = dense(attention / "output" / "dense", kFeatures, kFeatures);
  return [=](at::Tensor x) { return output(model::attention(query(x), key(x), value(x), kHeads)); };
}

/// Unlike ViT's, its norms come after the sums.
Layer encoder_layer(const Scope& s) {
  auto attended = attend(s / "attention");
  auto first_norm = norm(s / "attention" / "output" / "LayerNorm");
  auto think = sequence({dense(s / "intermediate" / "dense", kFeatures, kHidden), gelu(),
                         dense(s / "output" / "dense", kHidden, kFeatures)});
  auto last_norm = norm(s / "output" / "LayerNorm");
  return [=](at::Tensor x) {
    const auto y = first_norm(attended(x).add_(x));
    return last_norm(think(y).add_(y));
  };
}

/// The logits of the first token.
Layer classifier(const Scope& s, std::int64_t num_classes) {
  auto hidden = dense(s / "dense", kFeatures, kFeatures);
  auto output = dense(s / "out_proj", kFeatures, num_classes);
  return [=](at::Tensor x) { return output(hidden(x.select(1, 0)).tanh_()); };
}

}  // namespace

std::vector<BlockPlan> roberta_base(std::int64_t num_classes) {
  std::vector<BlockPlan> plan{named_block("roberta.embeddings", embeddings)};
  for (int i = 0; i < kLayers; ++i) {
    plan.push_back(named_block(fmt::format("roberta.encoder.layer.{}", i), encoder_layer));
  }
  plan.push_back(named_block("classifier", [=](const Scope& s) { return classifier(s, num_classes); }));
  return plan;
}

}  // namespace paretopipe::model
