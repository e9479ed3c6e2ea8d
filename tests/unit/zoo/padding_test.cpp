// What RoBERTa makes of padding, against PyTorch's own encoder and against sequences that have none.
#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/compute/torch/samples.hpp>
#include <paretopipe/compute/zoo/layers.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>
#include <paretopipe/core/hash.hpp>

#include <map>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <support/catch.hpp>
#include <torch/nn/modules/transformerlayer.h>

namespace paretopipe::zoo {
namespace {

using compute::kPadding;
using compute::Tensors;

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kLength = 24;  // blocks take any
constexpr std::int64_t kFeatures = 768;
constexpr int kLabelClasses = 10;
constexpr int kLayers = 12;

Block block(int index, const experiment::ComputeMode& mode = {}) {
  const auto plan = find_model("roberta_base").plan(kLabelClasses);
  return build_block("roberta_base", plan.at(static_cast<std::size_t>(index)), 1, mode);
}

Forward whole_model() {
  std::vector<Forward> blocks;
  for (int i = 0; i < find_model("roberta_base").block_count; ++i) blocks.push_back(block(i).forward);
  return chain(std::move(blocks));
}

/// Words, and no padding.
at::Tensor some_tokens(std::int64_t rows, std::int64_t length) {
  auto tokens = at::empty({rows, length}, at::kLong);
  for (std::int64_t i = 0; i < tokens.numel(); ++i) tokens.data_ptr<std::int64_t>()[i] = 4 + 977 * i % 50'000;
  return tokens;
}

/// With padding at the end, in the middle, at the beginning and nowhere.
at::Tensor tokens_with_padding() {
  auto tokens = some_tokens(kRows, kLength);
  tokens.select(0, 0).slice(0, 5).fill_(kPadding);
  tokens.select(0, 1).slice(0, 7, 15).fill_(kPadding);
  tokens.select(0, 2).slice(0, 0, 3).fill_(kPadding);
  return tokens;
}

at::Tensor noise(std::vector<std::int64_t> shape) {
  auto tensor = at::empty(shape, at::kFloat);
  compute::fill_normal({tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())}, fnv1a64("noise"));
  return tensor;
}

double largest_difference(const at::Tensor& left, const at::Tensor& right) {
  REQUIRE(left.sizes() == right.sizes());
  return left.sub(right).abs().max().item<float>();
}

/// PyTorch's layer with a block's weights.
torch::nn::TransformerEncoderLayer pytorch_layer(const Block& ours) {
  std::map<std::string, at::Tensor> named;
  for (const auto& entry : ours.tensors) named[entry.name.substr(ours.name.size() + 1)] = entry.tensor;
  auto options = torch::nn::TransformerEncoderLayerOptions(kFeatures, 12);
  torch::nn::TransformerEncoderLayer layer(options.dim_feedforward(3072).dropout(0).activation(torch::kGELU));
  const auto joined = [&](const std::string& what) {
    std::vector<at::Tensor> parts;
    for (const std::string part : {"query", "key", "value"})
      parts.push_back(named.at("attention.self." + part + "." + what));
    return at::cat(parts);
  };
  layer->self_attn->in_proj_weight.copy_(joined("weight"));
  layer->self_attn->in_proj_bias.copy_(joined("bias"));
  const auto copy = [&](auto& module, const std::string& name) {
    module->weight.copy_(named.at(name + ".weight"));
    module->bias.copy_(named.at(name + ".bias"));
  };
  copy(layer->self_attn->out_proj, "attention.output.dense");
  copy(layer->norm1, "attention.output.LayerNorm");
  copy(layer->linear1, "intermediate.dense");
  copy(layer->linear2, "output.dense");
  copy(layer->norm2, "output.LayerNorm");
  return layer;
}

}  // namespace

TEST_CASE("layers under a mask compute what PyTorch's encoder layers compute with a key padding mask") {
  const at::NoGradGuard no_grad;
  const auto tokens = tokens_with_padding();
  const auto padding = tokens.eq(kPadding);
  const auto mask = block(0).forward({tokens}).at(1);
  const auto input = noise({kRows, kLength, kFeatures});
  Tensors ours{input, mask};
  auto theirs = input.transpose(0, 1);  // of N x L x D: PyTorch's is L x N x D
  auto unmasked = theirs;
  for (const int index : {1, 2, kLayers}) {
    const auto layer = block(index);
    auto reference = pytorch_layer(layer);
    ours = layer.forward(std::move(ours));
    theirs = reference->forward(theirs, {}, padding);
    unmasked = reference->forward(unmasked);
  }
  CHECK(ours.size() == 1);  // nothing behind the last layer needs the mask
  CHECK(largest_difference(ours.front(), theirs.transpose(0, 1)) < 2e-5);
  CHECK(largest_difference(unmasked, theirs) > 1e-2);
}

TEST_CASE("positions count the tokens that are no padding, and padding has its own") {
  const c10::InferenceMode inference;
  const auto embeddings = block(0);
  std::map<std::string, at::Tensor> named;
  for (const auto& entry : embeddings.tensors) named[entry.name] = entry.tensor;
  const auto tokens = tokens_with_padding();
  auto sums = at::zeros({kRows, kLength, kFeatures});
  for (std::int64_t row = 0; row < kRows; ++row) {
    std::int64_t seen = 0;
    for (std::int64_t i = 0; i < kLength; ++i) {
      const auto token = tokens[row][i].item<std::int64_t>();
      const auto position = token == kPadding ? kPadding : kPadding + ++seen;
      sums[row][i] = named.at("roberta.embeddings.word_embeddings.weight")[token] +
                     named.at("roberta.embeddings.token_type_embeddings.weight")[0] +
                     named.at("roberta.embeddings.position_embeddings.weight")[position];
    }
  }
  const auto expected = at::layer_norm(sums, {kFeatures}, named.at("roberta.embeddings.LayerNorm.weight"),
                                       named.at("roberta.embeddings.LayerNorm.bias"), 1e-5);
  CHECK(embeddings.forward({tokens}).front().equal(expected));
}

TEST_CASE("a sequence has the same logits however much padding is behind it, and whatever it shares a batch with") {
  const c10::InferenceMode inference;
  const auto model = whole_model();
  const auto alone = some_tokens(1, 9);
  auto batch = some_tokens(2, kLength);
  batch.select(0, 1).slice(0, 9).fill_(kPadding);
  batch.select(0, 1).slice(0, 0, 9).copy_(alone[0]);
  const auto expected = model({alone}).front();
  const auto found = model({batch}).front();
  const auto largest = expected.abs().max().item<float>();
  CHECK(largest_difference(found.slice(0, 1), expected) < 2e-5 * largest);
  CHECK(largest_difference(found.slice(0, 0, 1), expected) > 1e-2 * largest);
}

TEST_CASE("a mask that hides nothing changes no bit of an attention") {
  const c10::InferenceMode inference;
  const auto q = noise({2, kLength, kFeatures}), k = q.flip(1), v = q.flip(0);
  const auto mask = block(0).forward({some_tokens(2, kLength)}).at(1);
  CHECK(attention(q, k, v, 12, mask).equal(attention(q, k, v, 12)));
}

TEST_CASE("a sequence that is nothing but padding has logits, in every type") {
  const c10::InferenceMode inference;
  for (const auto dtype : {experiment::Precision::float32, experiment::Precision::bfloat16}) {
    const experiment::ComputeMode mode{experiment::Compute::eager, dtype, experiment::MemoryFormat::contiguous};
    Tensors crossing{at::full({1, kLength}, kPadding, at::kLong)};
    for (const int index : {0, 1, 2}) crossing = block(index, mode).forward(std::move(crossing));
    CHECK(crossing.front().isfinite().all().item<bool>());
    CHECK(crossing.at(1).isfinite().all().item<bool>());
    CHECK(crossing.at(1).scalar_type() == crossing.front().scalar_type());
  }
}

}  // namespace paretopipe::zoo
