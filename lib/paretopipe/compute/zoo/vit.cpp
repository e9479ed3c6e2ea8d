#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include "layers.hpp"
#include "zoo.hpp"

// Dosovitskiy et al., "An image is worth 16x16 words", arXiv:2010.11929: ViT-B/16 as torchvision has it.
namespace paretopipe::zoo {

namespace {

constexpr std::int64_t kVitFeatures = 768;
constexpr std::int64_t kVitHeads = 12;
constexpr std::int64_t kVitHidden = 3072;
constexpr int kVitLayers = 12;
constexpr std::int64_t kPatch = 16;                                    // pixels
constexpr std::int64_t kTokens = 1 + (224 / kPatch) * (224 / kPatch);  // the class token, then the patches row by row
constexpr double kVitEpsilon = 1e-6;

Layer vit_norm(const Scope& scope) {
  return layer_norm(scope, kVitFeatures, kVitEpsilon);
}

/// Maps images to tokens.
Layer vit_stem(const Scope& root) {
  const ConvShape patches{.in = 3, .out = kVitFeatures, .kernel = square(kPatch), .stride = square(kPatch)};
  auto projection = conv2d_with_bias(root / "conv_proj", patches, Scheme::pytorch_default);
  // PyTorch starts with a class token of zeros. A nonzero one makes its loss visible.
  auto class_token = root.parameter("class_token", {1, 1, kVitFeatures}, 0.02);
  auto position = (root / "encoder").parameter("pos_embedding", {1, kTokens, kVitFeatures}, 0.02);
  return [=](at::Tensor x) {
    const auto embedded = projection(std::move(x)).flatten(2).transpose(1, 2);
    return at::cat({class_token.expand({embedded.size(0), -1, -1}), embedded}, 1).add_(position);
  };
}

Layer vit_encoder_layer(const Scope& s) {
  auto attend = sequence({vit_norm(s / "ln_1"), self_attention(s / "self_attention", kVitFeatures, kVitHeads)});
  const auto mlp = s / "mlp";
  auto feed_forward =
      sequence({vit_norm(s / "ln_2"), linear(mlp / "0", kVitFeatures, kVitHidden, Scheme::pytorch_default), gelu(),
                linear(mlp / "3", kVitHidden, kVitFeatures, Scheme::pytorch_default)});
  return [=](at::Tensor x) {
    const auto attended = attend(x).add_(x);
    return feed_forward(attended).add_(attended);
  };
}

/// The logits, computed from the class token.
Layer vit_head(const Scope& root, std::int64_t num_classes) {
  auto last_norm = vit_norm(root / "encoder" / "ln");
  auto classifier = linear(root / "heads" / "head", kVitFeatures, num_classes, Scheme::pytorch_default);
  return [=](at::Tensor x) { return classifier(last_norm(std::move(x)).select(1, 0)); };
}

}  // namespace

std::vector<BlockPlan> vit_b_16(std::int64_t num_classes) {
  std::vector<BlockPlan> plan{{"stem", vit_stem}};
  for (int i = 0; i < kVitLayers; ++i) {
    plan.push_back(named_block(fmt::format("encoder.layers.encoder_layer_{}", i), vit_encoder_layer));
  }
  plan.push_back({"head", [=](const Scope& root) { return vit_head(root, num_classes); }});
  return plan;
}

}  // namespace paretopipe::zoo
