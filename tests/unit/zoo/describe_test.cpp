#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/compute/zoo/zoo.hpp>
#include <paretopipe/core/error.hpp>

#include <map>

#include <support/catch.hpp>

namespace paretopipe::zoo {
namespace {

experiment::ModelDescription describe(const std::string& model, int num_classes, int batch) {
  auto backend = make_model_backend();
  return backend->describe({.model = model, .num_classes = num_classes, .batch = batch, .seed = 1, .data = "random"});
}

struct Totals {
  std::int64_t parameters = 0;
  std::int64_t multiply_accumulates = 0;
};

Totals totals(const experiment::ModelDescription& description) {
  Totals sum;
  for (const auto& block : description.blocks) {
    sum.parameters += block.parameters;
    sum.multiply_accumulates += block.multiply_accumulates;
  }
  return sum;
}

struct Published {
  std::string model;
  std::int64_t parameters;  ///< of torchvision's weights for 1000 classes ("num_params")
  double giga_macs;         ///< of one image; torchvision's "_ops" (0.15 and later) give them as GFLOPS
  int blocks;
};

TEST_CASE("parameters and multiply-accumulates of 1000 classes are the published ones") {
  const auto published = GENERATE(values<Published>({
      {"alexnet", 61'100'840, 0.714, 17},
      {"vgg16", 138'357'544, 15.470, 35},
      {"resnet18", 11'689'512, 1.814, 10},
      {"resnet50", 25'557'032, 4.089, 18},
      {"mobilenet_v2", 3'504'872, 0.301, 20},
      // torchvision counts its auxiliary head, 3,326,696 parameters, which takes no part in inference.
      {"inception_v3", 27'161'264 - 3'326'696, 5.713, 19},
      {"resnet101", 44'549'160, 7.801, 35},
      {"densenet121", 7'978'856, 2.834, 63},
      {"vit_b_16", 86'567'656, 17.564, 14},
  }));
  INFO(published.model);
  const auto description = describe(published.model, 1000, 1);
  CHECK(description.block_count() == published.blocks);
  CHECK(totals(description).parameters == published.parameters);
  CHECK(static_cast<double>(totals(description).multiply_accumulates) / 1e9 ==
        Approx(published.giga_macs).margin(0.0006));
}

TEST_CASE("the table's block counts and input sizes are those of the chains") {
  for (const auto& model : models()) {
    INFO(model.name);
    CHECK(model.plan(10).size() == static_cast<std::size_t>(model.block_count));
    const std::map<std::string_view, std::int64_t> unusual{
        {"inception_v3", 299}, {"densenet_cifar", 32}, {"roberta_base", 128}};
    CHECK(model.input_side == (unusual.contains(model.name) ? unusual.at(model.name) : 224));
    CHECK(model.takes_tokens() == (model.name == "roberta_base"));
  }
}

TEST_CASE("shapes, activation bytes and multiply-accumulates scale with the batch, parameters do not") {
  const auto one = describe("mobilenet_v2", 10, 1);
  const auto eight = describe("mobilenet_v2", 10, 8);
  CHECK_THROWS_AS(describe("resnet18", 10, 0), UsageError);
  CHECK_THROWS_AS(describe("resnet18", 0, 1), UsageError);
  CHECK(eight.batch == 8);
  CHECK(eight.input_shape == std::vector<std::int64_t>{8, 3, 224, 224});
  CHECK(eight.input_bytes == 8 * one.input_bytes);
  REQUIRE(one.block_count() == eight.block_count());
  for (std::size_t i = 0; i < one.blocks.size(); ++i) {
    auto expected = one.blocks[i];
    expected.output_shape[0] = 8;
    expected.activation_bytes *= 8;
    expected.multiply_accumulates *= 8;
    CHECK(eight.blocks[i] == expected);
  }
}

TEST_CASE("a block's numbers are those that one calculates by hand") {
  const auto stem = describe("resnet18", 10, 1).blocks.at(0);
  CHECK(stem.name == "stem");
  CHECK(stem.output_shape == std::vector<std::int64_t>{1, 64, 56, 56});
  CHECK(stem.activation_bytes == 64 * 56 * 56 * 4);
  CHECK(stem.parameters == 64 * 3 * 7 * 7 + 2 * 64);
  CHECK(stem.parameter_bytes == (64 * 3 * 7 * 7 + 4 * 64) * 4 + 8);  // 8: num_batches_tracked
  CHECK(stem.multiply_accumulates == 64 * 112 * 112 * 3 * 7 * 7);
  const auto head = describe("resnet18", 10, 1).blocks.at(9);
  CHECK(head.parameters == 512 * 10 + 10);
  CHECK(head.multiply_accumulates == 512 * 10);
}

TEST_CASE("DenseNet for CIFAR has the million of parameters that it is known for, and halves its pixels three times") {
  const auto description = describe("densenet_cifar", 10, 1);
  CHECK(totals(description).parameters == 1'000'618);
  CHECK(description.input_shape == std::vector<std::int64_t>{1, 3, 32, 32});
  const auto& blocks = description.blocks;
  CHECK(blocks.at(6).name == "dense1.5");
  CHECK(blocks.at(6).output_shape == std::vector<std::int64_t>{1, 96, 32, 32});  // 24 + 6 * 12
  CHECK(blocks.at(7).name == "trans1");
  CHECK(blocks.at(7).output_shape == std::vector<std::int64_t>{1, 48, 16, 16});
  CHECK(blocks.at(61).output_shape == std::vector<std::int64_t>{1, 384, 4, 4});
}

TEST_CASE("an encoder layer's multiply-accumulates are those of its matrices and of its attention") {
  const auto layer = describe("vit_b_16", 10, 1).blocks.at(1);
  CHECK(layer.name == "encoder.layers.encoder_layer_0");
  const std::int64_t tokens = 197;
  const std::int64_t matrices = tokens * (4 * 768 * 768 + 2 * 768 * 3072);
  CHECK(layer.multiply_accumulates == matrices + 2 * tokens * tokens * 768);  // q k^T, and its softmax times v
  CHECK(layer.activation_bytes == 4 * tokens * 768);
}

TEST_CASE("RoBERTa has the parameters that its weights for two classes are published with, and takes tokens") {
  const auto description = describe("roberta_base", 2, 3);
  CHECK(totals(description).parameters == 124'647'170);
  CHECK(description.input_shape == std::vector<std::int64_t>{3, 128});
  CHECK(description.input_bytes == 3 * 128 * 8);
  const std::int64_t tokens = 128;
  const std::int64_t layer = tokens * (4 * 768 * 768 + 2 * 768 * 3072) + 2 * tokens * tokens * 768;
  CHECK(description.blocks.at(0).multiply_accumulates == 0);
  CHECK(description.blocks.at(1).multiply_accumulates == 3 * layer);
  CHECK(description.blocks.at(13).multiply_accumulates == 3 * (768 * 768 + 768 * 2));
  // Its mask crosses every cut before its last attention, and is counted.
  using Shapes = std::vector<std::vector<std::int64_t>>;
  const std::vector<std::int64_t> features{3, 128, 768}, mask{3, 128}, logits{3, 2};
  for (int k = 1; k <= 12; ++k) {
    CAPTURE(k);
    CHECK(description.shapes_at(k) == Shapes{features, mask});
    CHECK(description.bytes_at(k) == 3 * 128 * (768 + 1) * 4);
  }
  CHECK(description.shapes_at(0) == Shapes(1, mask));  // tokens have its shape
  CHECK(description.shapes_at(13) == Shapes(1, features));
  CHECK(description.bytes_at(13) == 3 * 128 * 768 * 4);
  CHECK(description.shapes_at(14) == Shapes(1, logits));
}

}  // namespace
}  // namespace paretopipe::zoo
