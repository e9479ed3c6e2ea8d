#pragma once
#include <paretopipe/config/archive.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// Half-open range of block indices [begin, end). Empty (begin == end) if a stage computes nothing.
struct BlockRange {
  int begin = 0;
  int end = 0;

  int size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool operator==(const BlockRange&) const = default;
};

/// One block of a model: the smallest unit that a split point can assign to a stage.
struct BlockDescription {
  std::string name;                        ///< the author's name of its modules, e.g. "features.3", "layer1.0"
  std::vector<std::int64_t> output_shape;  ///< of the described batch, batch dimension first
  std::int64_t activation_bytes = 0;       ///< of all that crosses the cut after it, at the described batch size
  std::int64_t parameters = 0;             ///< number of learnable parameters
  std::int64_t parameter_bytes = 0;        ///< memory of parameters and buffers
  std::int64_t multiply_accumulates = 0;   ///< of convolutions and matrix products, at the described batch size
  std::vector<std::vector<std::int64_t>> other_shapes{};  ///< of further tensors that cross the cut, besides the output
  bool operator==(const BlockDescription&) const = default;
};

/// All that programs other than the stage know of a model. It always comes from the stage program, because the driver
/// has no LibTorch.
struct ModelDescription {
  std::string model;  ///< the requested name, e.g. "resnet18", "synthetic:5ms/2MB,3ms"; for a file, its name
  int batch = 1;
  std::vector<std::int64_t> input_shape;  ///< batch dimension first
  std::int64_t input_bytes = 0;
  std::vector<BlockDescription> blocks;
  std::optional<Archive> archive{};  ///< if the model is a file
  std::vector<int> cut_positions{};  ///< of an archive: where blocks end, among all its possible cuts
  bool operator==(const ModelDescription&) const = default;

  int block_count() const { return static_cast<int>(blocks.size()); }

  /// Shape and bytes of what crosses a cut at split point k: the input for k = 0, otherwise the output of block k - 1.
  /// If several tensors cross, shape_at is that of the first, and the bytes are those of all. Requires 0 <= k <=
  /// block_count().
  const std::vector<std::int64_t>& shape_at(int split) const;
  std::vector<std::vector<std::int64_t>> shapes_at(int split) const;
  std::int64_t bytes_at(int split) const;

  /// Sum of parameter_bytes over a range.
  std::int64_t parameter_bytes(BlockRange range) const;
};

void to_json(nlohmann::json& json, const BlockRange& range);
void from_json(const nlohmann::json& json, BlockRange& range);
void to_json(nlohmann::json& json, const BlockDescription& block);
void from_json(const nlohmann::json& json, BlockDescription& block);
void to_json(nlohmann::json& json, const ModelDescription& model);
void from_json(const nlohmann::json& json, ModelDescription& model);

}  // namespace paretopipe::config
