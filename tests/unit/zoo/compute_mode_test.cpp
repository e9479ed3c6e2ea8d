// Every way to compute: a split against the unsplit model that computes in the same way, and that against eager
// float32.
#include <paretopipe/compute/torch/optimise.hpp>
#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/compute/zoo/describe.hpp>
#include <paretopipe/compute/zoo/layers.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>

#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <support/catch.hpp>
#include <support/crossing.hpp>

namespace paretopipe::zoo {
namespace {

using support::boundary_of;
using support::bytes_of;
using support::logits_of;
using support::send;

using experiment::Compute;
using experiment::ComputeMode;
using experiment::MemoryFormat;
using experiment::Precision;

constexpr ComputeMode kOptimized{Compute::optimized, Precision::float32, MemoryFormat::contiguous};

stage::ModelRequest request_for(const std::string& model, const ComputeMode& mode, int batch = 1) {
  return {.model = model, .num_classes = 10, .batch = batch, .seed = 1, .data = "random", .compute = mode};
}

double largest(const std::vector<float>& values) {
  double result = 0;
  for (const float value : values) result = std::max(result, std::abs(double{value}));
  return result;
}

double difference(const std::vector<float>& left, const std::vector<float>& right) {
  double result = 0;
  for (std::size_t i = 0; i < left.size(); ++i) result = std::max(result, std::abs(double{left[i]} - double{right[i]}));
  return result;
}

std::vector<float> whole(const std::string& model, const ComputeMode& mode, int batch = 1) {
  auto backend = make_model_backend();
  backend->configure({});
  const auto request = request_for(model, mode, batch);
  const experiment::BlockRange all{0, backend->describe(request).block_count()};
  backend->load(request, all);
  return logits_of(backend->forward(all, backend->make_inputs(request, 1).at(0)));
}

/// The largest difference of a split from the unsplit model, as a share of the largest logit.
double check_every_split(const std::string& model, const ComputeMode& mode, int step) {
  auto first = make_model_backend();
  auto second = make_model_backend();
  first->configure({});
  const auto request = request_for(model, mode);
  const auto description = first->describe(request);
  const int blocks = description.block_count();
  first->load(request, {0, blocks});
  second->load(request, {0, blocks});
  const auto input = first->make_inputs(request, 1).at(0);
  const auto expected = logits_of(first->forward({0, blocks}, input));
  double worst = 0;
  for (int k = blocks; k >= 0; k -= step) {
    INFO("split point " << k);
    const bool inside = k > 0 && k < blocks;
    stage::Boundary boundary;
    for (auto& shape : description.shapes_at(k)) {
      boundary.push_back(stage::activation_spec(inside ? mode : ComputeMode{}, std::move(shape)));
    }
    if (k == 0) boundary.front().dtype = input.spec.dtype;  // tokens of RoBERTa
    first->prepare({0, k}, {input.spec});
    const auto sent = first->encode(first->forward({0, k}, input));
    CHECK((boundary_of(sent) == boundary));  // nothing prints it
    CHECK(bytes_of(sent) == description.bytes_at(k));
    second->prepare({k, blocks}, boundary);
    const auto result = second->forward({k, blocks}, second->decode(send(*second, sent)));
    worst = std::max(worst, difference(logits_of(result), expected));
  }
  return worst / largest(expected);
}

TEST_CASE("optimized, every split of a model is within the tolerance of the whole model") {
  const auto [model, step] = GENERATE(table<std::string, int>({{"alexnet", 1},
                                                               {"resnet18", 1},
                                                               {"mobilenet_v2", 1},
                                                               {"densenet_cifar", 7},
                                                               {"inception_v3", 6},
                                                               {"vit_b_16", 7},
                                                               {"roberta_base", 7}}));
  CAPTURE(model);
  CHECK(check_every_split(model, kOptimized, step) <= kOptimized.relative_tolerance());
  const auto eager = whole(model, {});
  const auto optimized = whole(model, kOptimized);
  CHECK(difference(eager, optimized) <= kOptimized.relative_tolerance() * largest(eager));
}

/// Minutes: what the default mode stands on. Run it by name where LibTorch or the
/// kind of processor is another.
TEST_CASE("optimized, every split of every model is within the tolerance, in every type and memory format",
          "[.every]") {
  for (const auto& model : models()) {
    const std::string name(model.name);
    const auto eager = whole(name, {});
    for (const auto dtype : {Precision::float32, Precision::bfloat16}) {
      for (const auto format : {MemoryFormat::contiguous, MemoryFormat::channels_last}) {
        const ComputeMode mode{Compute::optimized, dtype, format};
        CAPTURE(name, describe(mode));
        const auto worst = check_every_split(name, mode, 1);
        CHECK(worst <= mode.relative_tolerance());
        fmt::print("| {} | {} {} | {:.1e} | {:.1e} |\n", name, to_string(dtype), to_string(format), worst,
                   difference(eager, whole(name, mode)) / largest(eager));
        std::fflush(stdout);
      }
    }
  }
}

TEST_CASE("eager, a split changes no bit in any type and memory format") {
  const auto model = GENERATE(as<std::string>(), "resnet18", "mobilenet_v2", "densenet_cifar");
  const auto mode = GENERATE(ComputeMode{Compute::eager, Precision::float32, MemoryFormat::channels_last},
                             ComputeMode{Compute::eager, Precision::bfloat16, MemoryFormat::contiguous},
                             ComputeMode{Compute::eager, Precision::bfloat16, MemoryFormat::channels_last});
  CAPTURE(model, describe(mode));
  CHECK(check_every_split(model, mode, model == "densenet_cifar" ? 7 : 5) == 0);
}

TEST_CASE("optimized, other types and memory formats stay within the tolerance too") {
  const auto model = GENERATE(as<std::string>(), "resnet18", "mobilenet_v2");
  const auto mode = GENERATE(ComputeMode{Compute::optimized, Precision::float32, MemoryFormat::channels_last},
                             ComputeMode{Compute::optimized, Precision::bfloat16, MemoryFormat::contiguous});
  CAPTURE(model, describe(mode));
  CHECK(check_every_split(model, mode, 5) <= mode.relative_tolerance());
}

TEST_CASE("bfloat16 halves what crosses a cut and what a block holds, and rounds the logits") {
  const ComputeMode mode{Compute::eager, Precision::bfloat16, MemoryFormat::contiguous};
  auto backend = make_model_backend();
  const auto wide = backend->describe(request_for("resnet18", {}));
  const auto narrow = backend->describe(request_for("resnet18", mode));
  REQUIRE(narrow.block_count() == wide.block_count());
  CHECK(narrow.bytes_at(0) == wide.bytes_at(0));
  CHECK(narrow.bytes_at(3) * 2 == wide.bytes_at(3));
  CHECK(narrow.bytes_at(narrow.block_count()) == wide.bytes_at(wide.block_count()));
  CHECK(narrow.blocks.back().parameter_bytes * 2 == wide.blocks.back().parameter_bytes);
  CHECK(narrow.blocks[3].parameters == wide.blocks[3].parameters);
  CHECK(narrow.blocks[3].multiply_accumulates == wide.blocks[3].multiply_accumulates);
  const auto exact = whole("resnet18", {});
  const auto rounded = whole("resnet18", mode);
  CHECK(difference(exact, rounded) > 0);
  CHECK(difference(exact, rounded) < 0.1 * largest(exact));
}

TEST_CASE("a stage that was prepared for another range or batch computes the right one all the same") {
  auto backend = make_model_backend();
  backend->configure({});
  auto request = request_for("densenet_cifar", kOptimized);
  const experiment::BlockRange all{0, backend->describe(request).block_count()};
  backend->load(request, all);
  const auto one = backend->make_inputs(request, 1).at(0);
  backend->prepare({0, 3}, {one.spec});
  const auto alone = logits_of(backend->forward(all, one));
  request.batch = 2;
  backend->load(request, all);
  const auto two = logits_of(backend->forward(all, backend->make_inputs(request, 1).at(0)));
  REQUIRE(two.size() == 2 * alone.size());
  CHECK(difference(alone, {two.begin(), two.begin() + 10}) <= kOptimized.relative_tolerance() * largest(alone));
}

std::set<std::string> kinds_in(const std::shared_ptr<torch::jit::Graph>& graph) {
  std::set<std::string> kinds;
  for (const auto* node : graph->nodes()) kinds.emplace(node->kind().toQualString());
  return kinds;
}

TEST_CASE("optimising folds batch norms away, and only what the mode allows goes to blocked layouts") {
  const c10::InferenceMode inference;
  const auto block = build_block("resnet18", find_model("resnet18").plan(10).at(1), 1);
  const auto example = at::ones({1, 64, 8, 8});
  const auto kinds = [&](const ComputeMode& mode) {
    auto graph = trace(block.forward, {example});
    compute::optimise(graph, {example}, mode);
    return kinds_in(graph);
  };
  const auto blocked = kinds(kOptimized);
  CHECK_FALSE(blocked.contains("aten::batch_norm"));
  CHECK(blocked.contains("prim::ConstantMKLDNNTensor"));
  const auto by_pixel = kinds({Compute::optimized, Precision::float32, MemoryFormat::channels_last});
  CHECK_FALSE(by_pixel.contains("aten::batch_norm"));
  CHECK_FALSE(by_pixel.contains("prim::ConstantMKLDNNTensor"));
}

struct Rewritten {
  const char* name;
  Layer layer;
  std::vector<std::int64_t> input;
  const char* instead;  ///< an operator that is only there when the layer was rewritten; null if it is to stay
};

at::Tensor arbitrary(std::vector<std::int64_t> sizes) {
  auto tensor = at::empty(sizes);
  auto* const values = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i)));
  return tensor;
}

/// A convolution with a bias, whose weight is out x in/groups x height x width.
Layer convolution(std::vector<std::int64_t> weight, Pair stride, Pair padding, Pair dilation = {1, 1}, int groups = 1) {
  return [=, parameters = arbitrary(weight), bias = arbitrary({weight.front()})](at::Tensor x) {
    return at::conv2d(x, parameters, bias, stride, padding, dilation, groups);
  };
}

Layer doubled(Layer behind) {
  return [behind](at::Tensor x) { return behind(at::cat({x, x}, 1)); };
}

std::vector<Rewritten> rewritten_layers() {
  const Layer average = [](at::Tensor x) { return at::avg_pool2d(x, 3, 2, 1, true, false); };
  const Layer divided = [](at::Tensor x) { return at::avg_pool2d(x, {3, 2}, {2, 1}, 1, false, true, 5); };
  const Layer maximum = [](at::Tensor x) { return at::max_pool2d(x, {2, 3}, {1, 2}, {1, 0}, {1, 1}, true); };
  const Layer dilated = [](at::Tensor x) { return at::max_pool2d(x, {2, 3}, {1, 2}, {1, 0}, {2, 1}, true); };
  const Layer rounded_up = [](at::Tensor x) { return at::avg_pool2d(x, 2, 2, 0, true, true); };
  const Layer uneven = [](at::Tensor x) { return at::adaptive_avg_pool2d(x, {7, 7}); };
  const Layer even = [](at::Tensor x) { return at::adaptive_avg_pool2d(x, {2, 5}); };
  const Layer clamped = [](at::Tensor x) { return at::clamp(x, at::Scalar(0)); };
  const Layer six = [](at::Tensor x) { return at::hardtanh(x, 0.0, 6.0); };
  const Layer gelu_by_tanh = [](at::Tensor x) { return at::gelu(x, "tanh"); };
  const Layer norm_alone = [mean = arbitrary({16}), variance = arbitrary({16}).abs().add(1)](at::Tensor x) {
    return at::batch_norm(at::relu(x), {}, {}, mean, variance, false, 0.1, 1e-5, false);
  };
  const auto narrow = convolution({16, 8, 3, 3}, {1, 1}, {1, 1});
  return {
      {"a padded 11 x 11 in steps",
       convolution({16, 3, 11, 11}, {4, 4}, {2, 2}),
       {2, 3, 57, 43},
       "aten::constant_pad_nd"},
      {"padded on one side", convolution({8, 3, 3, 9}, {1, 2}, {0, 5}), {1, 3, 20, 33}, "aten::constant_pad_nd"},
      {"dilated, in groups",
       convolution({8, 2, 9, 9}, {3, 2}, {4, 7}, {1, 2}, 4),
       {3, 8, 31, 29},
       "aten::constant_pad_nd"},
      {"wide without steps", convolution({8, 3, 11, 11}, {1, 1}, {5, 5}), {1, 3, 13, 17}, nullptr},
      {"wide without padding", convolution({8, 3, 16, 16}, {16, 16}, {0, 0}), {1, 3, 48, 32}, nullptr},
      {"narrow in steps", convolution({8, 3, 7, 7}, {2, 2}, {3, 3}), {1, 3, 15, 16}, nullptr},
      {"an average behind a concatenation", doubled(average), {2, 5, 17, 9}, "aten::contiguous"},
      {"an average with a divisor", doubled(divided), {1, 1, 7, 8}, "aten::contiguous"},
      {"a maximum of the input", maximum, {3, 9, 11, 6}, "aten::contiguous"},
      {"a maximum before a convolution", sequence({maximum, narrow}), {1, 8, 12, 12}, "aten::contiguous"},
      {"a maximum of one image without a batch", maximum, {9, 11, 6}, nullptr},
      {"a maximum behind a convolution", sequence({narrow, maximum}), {1, 8, 12, 12}, nullptr},
      {"a dilated maximum behind a convolution", sequence({narrow, dilated}), {1, 8, 12, 12}, "aten::contiguous"},
      {"a divisor behind a convolution", sequence({narrow, divided}), {1, 8, 12, 12}, "aten::contiguous"},
      {"an average rounded up behind a convolution", sequence({narrow, rounded_up}), {1, 8, 5, 5}, "aten::contiguous"},
      {"uneven windows behind a convolution", sequence({narrow, uneven}), {1, 8, 10, 10}, "aten::contiguous"},
      {"even windows behind a convolution", sequence({narrow, even}), {1, 8, 10, 10}, nullptr},
      {"clamped at 0 behind a convolution", sequence({narrow, clamped}), {1, 8, 12, 12}, "aten::contiguous"},
      {"clamped between numbers behind a convolution", sequence({narrow, six}), {1, 8, 12, 12}, nullptr},
      {"GELU by tanh behind a convolution", sequence({narrow, gelu_by_tanh}), {1, 8, 12, 12}, "aten::contiguous"},
      {"a norm without weights behind a ReLU", sequence({narrow, norm_alone}), {1, 8, 12, 12}, "aten::contiguous"},
  };
}

TEST_CASE("an operator that is rewritten for its shape computes what it did, at the shape's every edge") {
  const c10::InferenceMode inference;
  for (const auto& [name, layer, sizes, instead] : rewritten_layers()) {
    CAPTURE(name);
    const auto input = arbitrary(sizes);
    const auto expected = layer(input);
    auto graph = trace(layer, {input});
    compute::optimise(graph, {input}, kOptimized);
    const auto kinds = kinds_in(graph);
    if (instead != nullptr) {
      CHECK(kinds.contains(instead));
    } else {
      CHECK_FALSE(kinds.contains("aten::constant_pad_nd"));
      CHECK_FALSE(kinds.contains("aten::contiguous"));
    }
    const auto result = compute::Program(graph).run({input}).front();
    REQUIRE(result.sizes() == expected.sizes());
    CHECK(result.is_contiguous());
    const auto allowed = kOptimized.relative_tolerance() * expected.abs().max().item<double>();
    CHECK(result.sub(expected).abs().max().item<double>() <= allowed);
  }
}

TEST_CASE("a traced block leaves its input as it is and computes what the block computes") {
  const c10::InferenceMode inference;
  const auto example = at::ones({1, 64, 8, 8});
  const auto overwriting = sequence({relu6(), relu()});
  const compute::Program program(trace(overwriting, {example}));
  const auto input = example.mul(-3);
  CHECK(program.run({input}).front().max().item<float>() == 0);
  CHECK(input.min().item<float>() == -3);
}

}  // namespace
}  // namespace paretopipe::zoo
