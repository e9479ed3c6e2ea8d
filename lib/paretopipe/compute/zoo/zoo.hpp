#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "block.hpp"

namespace paretopipe::zoo {

/// A row of the table of models.
struct Model {
  std::string_view name;
  std::int64_t input_side;  ///< side of the square RGB input in pixels, or the length of a token sequence
  int block_count;
  std::vector<BlockPlan> (*plan)(std::int64_t num_classes);  ///< the whole chain, in order
  std::int64_t vocabulary = 0;                               ///< the input is int64 tokens below it; 0: float32 images

  bool takes_tokens() const { return vocabulary > 0; }
  at::ScalarType input_type() const { return takes_tokens() ? at::kLong : at::kFloat; }
  std::vector<std::int64_t> sample_shape() const {
    if (takes_tokens()) return {input_side};
    return {3, input_side, input_side};
  }
  std::vector<std::int64_t> input_shape(std::int64_t batch) const {
    auto shape = sample_shape();
    shape.insert(shape.begin(), batch);
    return shape;
  }
};

/// All models. To add one, write its plan and add a row.
std::span<const Model> models();

/// The model with that name. Throws UsageError, listing the known names, if there is none.
const Model& find_model(std::string_view name);

// One architecture per file. Each follows torchvision's module of the same name, tensor names included. The exceptions
// are densenet_cifar (pytorch-cifar), roberta_base (Hugging Face), and inception_v3, which does not transform its
// input.
std::vector<BlockPlan> alexnet(std::int64_t num_classes);
std::vector<BlockPlan> vgg16(std::int64_t num_classes);
std::vector<BlockPlan> resnet18(std::int64_t num_classes);
std::vector<BlockPlan> resnet50(std::int64_t num_classes);
std::vector<BlockPlan> mobilenet_v2(std::int64_t num_classes);
std::vector<BlockPlan> inception_v3(std::int64_t num_classes);
std::vector<BlockPlan> resnet101(std::int64_t num_classes);
std::vector<BlockPlan> densenet121(std::int64_t num_classes);
std::vector<BlockPlan> densenet_cifar(std::int64_t num_classes);
std::vector<BlockPlan> vit_b_16(std::int64_t num_classes);

inline constexpr std::int64_t kRobertaVocabulary = 50265;
std::vector<BlockPlan> roberta_base(std::int64_t num_classes);

}  // namespace paretopipe::zoo
