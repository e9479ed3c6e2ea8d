#pragma once
#include <paretopipe/model/block.hpp>

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace paretopipe::model {

/// A row of the table of models.
struct Model {
  std::string_view name;
  std::int64_t input_side;  ///< of the square RGB input, in pixels
  int block_count;
  std::vector<BlockPlan> (*plan)(std::int64_t num_classes);  ///< the whole chain, in order

  std::vector<std::int64_t> sample_shape() const { return {3, input_side, input_side}; }
  std::vector<std::int64_t> input_shape(std::int64_t batch) const { return {batch, 3, input_side, input_side}; }
};

/// All of them. To add one, write its plan and a row.
std::span<const Model> models();

/// Throws UsageError, listing the known names, for any other.
const Model& find_model(std::string_view name);

// One architecture a file. Each follows torchvision's module of the same name, and so do its tensor names.
std::vector<BlockPlan> alexnet(std::int64_t num_classes);
std::vector<BlockPlan> vgg16(std::int64_t num_classes);
std::vector<BlockPlan> resnet18(std::int64_t num_classes);
std::vector<BlockPlan> resnet50(std::int64_t num_classes);
std::vector<BlockPlan> mobilenet_v2(std::int64_t num_classes);
std::vector<BlockPlan> inception_v3(std::int64_t num_classes);

}  // namespace paretopipe::model
