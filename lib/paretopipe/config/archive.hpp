#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// How a TorchScript file that a person brought is used as a model: what decides its blocks, besides the batch. Part of
/// a trial's identity, which the file's place is not.
struct Archive {
  std::string sha256;                     ///< of the file, 64 hexadecimal digits: a changed file is another model
  std::vector<std::int64_t> input_shape;  ///< of one sample, without the batch dimension
  std::string cuts;                       ///< unit, all, modules, or a pattern of names
  int max_crossing = 1;                   ///< tensors that may cross a cut: 1 … kMostCrossing

  bool operator==(const Archive&) const = default;
};
void to_json(nlohmann::json& json, const Archive& archive);
void from_json(const nlohmann::json& json, Archive& archive);

/// Tensors that a link can carry of one cut.
inline constexpr int kMostCrossing = 2;

/// Whether what a person wrote as a model is the path of an archive: it has a slash, or ends in .pt, .pth or
/// .torchscript. Forms with parameters (synthetic:5ms/2MB,3ms) are none.
bool names_archive(const std::string& model);

/// "3x224x224". Throws UsageError for anything but 1 to 7 sizes from 1 to 1000000 with an x between them.
std::vector<std::int64_t> parse_shape(const std::string& text);

/// What blocks end at, unless a person says otherwise.
inline constexpr const char* kDefaultCuts = "unit";

/// Throws UsageError for an archive without an input or with one that is no shape, for an input, cuts or crossing
/// tensors where none of the models is an archive, and for a number of these that there cannot be.
void check_archive_settings(const std::vector<std::string>& models, const std::string& input, const std::string& cuts,
                            int max_crossing = 1);

/// A model as a person named it, looked up.
struct ModelSource {
  std::string name;                ///< for people and records; an archive's is its file's, without the folders
  std::filesystem::path file;      ///< of an archive, absolute; empty for models that the stage knows
  std::optional<Archive> archive;  ///< none for models that the stage knows
};

/// Reads an archive's file for its SHA-256; of other models only the name is taken. The settings have passed
/// check_archive_settings. Throws UsageError for a file that cannot be read.
ModelSource find_source(const std::string& model, const std::string& input, const std::string& cuts,
                        int max_crossing = 1);

}  // namespace paretopipe::config
