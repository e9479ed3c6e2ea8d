#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// How a user's TorchScript file is used as a model: all that determines its blocks, except the batch. Part of a
/// trial's identity, unlike the file's path.
struct Archive {
  std::string sha256;                     ///< of the file, 64 hexadecimal digits; a changed file is another model
  std::vector<std::int64_t> input_shape;  ///< of one sample, without the batch dimension
  std::string cuts;                       ///< unit, all, modules, or a pattern of names
  int max_crossing = 1;                   ///< tensors that may cross a cut: 1 … kMostCrossing

  bool operator==(const Archive&) const = default;
};
void to_json(nlohmann::json& json, const Archive& archive);
void from_json(const nlohmann::json& json, Archive& archive);

/// The most tensors of one cut that a link can carry.
inline constexpr int kMostCrossing = 2;

/// True if a model name is the path of an archive: it has a slash, or ends in .pt, .pth or .torchscript. Names with
/// parameters (synthetic:5ms/2MB,3ms) are never paths.
bool names_archive(const std::string& model);

/// Parses "3x224x224". Throws UsageError for anything but 1 to 7 sizes from 1 to 1000000, separated by x.
std::vector<std::int64_t> parse_shape(const std::string& text);

/// The default of what blocks end at.
inline constexpr const char* kDefaultCuts = "unit";

/// Throws UsageError if an archive has no input shape, a malformed one or no cuts, if settings for archives are given
/// although no model is an archive, or if `max_crossing` is not from 1 to kMostCrossing.
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

}  // namespace paretopipe::config
