#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

inline constexpr std::string_view kSyntheticPrefix = "synthetic:";

/// True if a model name means a model that sleeps instead of computing (compute/synthetic/synthetic_model.hpp), even if
/// it is malformed.
constexpr bool is_synthetic(std::string_view model) {
  return model.starts_with(kSyntheticPrefix);
}

/// How a user's TorchScript file is used as a model: all that determines its blocks, except the batch. Part of a
/// trial's identity, unlike the file's path.
struct Archive {
  std::string sha256;                     ///< of the file, 64 hexadecimal digits; a changed file is another model
  std::vector<std::int64_t> input_shape;  ///< of one sample, without the batch dimension
  std::string cuts;                       ///< unit, all, modules, or a pattern of names
  int max_crossing = 1;                   ///< tensors that may cross a cut: 1 … kMostCrossing
  bool trained = false;                   ///< computes as in training, with weights that change

  bool operator==(const Archive&) const = default;
};
// Defaults are left out, so that archives keep the identity that they had before these settings existed.
PARETOPIPE_JSON_UNLESS_USUAL(Archive, (sha256, input_shape, cuts), (max_crossing, trained))

/// The most tensors of one cut that a link can carry.
inline constexpr int kMostCrossing = 2;

/// True if a model name is the path of an archive: it has a slash, or ends in .pt, .pth or .torchscript. Names with
/// parameters (synthetic:5ms/2MB,3ms) are never paths.
bool names_archive(const std::string& model);

/// Parses "3x224x224". Throws UsageError for anything but 1 to 7 sizes from 1 to 1000000, separated by x.
std::vector<std::int64_t> parse_shape(const std::string& text);

/// The default of what blocks end at.
inline constexpr const char* kDefaultCuts = "unit";

/// Throws UsageError if an archive has no input shape, a malformed one or no cuts, and if settings for archives are
/// given although no model is an archive.
void check_archive_settings(const std::vector<std::string>& models, const std::string& input, const std::string& cuts,
                            int max_crossing = 1);

/// A model as the user named it, looked up.
struct ModelSource {
  std::string name;                ///< for people and records; an archive's is its file name without folders
  std::filesystem::path file;      ///< of an archive, absolute; empty for models that the stage knows
  std::optional<Archive> archive;  ///< none for models that the stage knows
};

/// Looks up a model. Reads an archive's file for its SHA-256; takes only the name of other models. The settings must
/// have passed check_archive_settings. Throws UsageError if the file cannot be read.
ModelSource find_source(const std::string& model, const std::string& input, const std::string& cuts,
                        int max_crossing = 1);

/// Half-open range of block indices [begin, end). Empty (begin == end) if a stage computes nothing.
struct BlockRange {
  int begin = 0;
  int end = 0;

  int size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool operator==(const BlockRange&) const = default;
};
PARETOPIPE_JSON(BlockRange, begin, end)

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
PARETOPIPE_JSON_UNLESS_USUAL(BlockDescription,
                             (name, output_shape, activation_bytes, parameters, parameter_bytes, multiply_accumulates),
                             (other_shapes))

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
PARETOPIPE_JSON_UNLESS_USUAL(ModelDescription, (model, batch, input_shape, input_bytes, blocks, archive),
                             (cut_positions))

}  // namespace paretopipe::experiment
