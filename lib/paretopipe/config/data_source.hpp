#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace paretopipe::config {

/// Of the labels that a data set has itself, where a file could stand.
inline constexpr const char* kOwnLabels = "own";

/// What data are, besides their name: part of a trial's identity, which the files' place is not.
struct DataIdentity {
  std::string sha256{};  ///< of data that are a person's files, 64 hexadecimal digits; else empty
  std::string labels{};  ///< the SHA-256 of their file, or kOwnLabels; empty: there are none

  bool operator==(const DataIdentity&) const = default;
};

/// Data as a person named them, looked up.
struct DataSource {
  std::string name;     ///< for people and records: a person's files without the folders that they lie in
  std::string request;  ///< for a stage: the same with an absolute path
  std::string labels;   ///< for a stage: an absolute path, kOwnLabels, or empty
  DataIdentity identity;
};

/// "images:/home/me/photos" is a person's own data: of the kind "images", at that place. All that can stand before the
/// colon, or alone, are fashion-mnist, cifar10, random, images, tensor and tokens.
struct DataChoice {
  std::string kind;
  std::string place;  ///< empty where none is named

  bool own_files() const { return kind == "images" || kind == "tensor" || kind == "tokens"; }
};
DataChoice parse_data(const std::string& data);

/// DataSource::name. Reads nothing.
std::string name_of_data(const std::string& data);

/// Throws UsageError, a sentence without the experiment's key, for a kind that is none, for a place that is missing or
/// too much, and for labels that the data cannot have. Reads nothing.
void check_data_choice(const std::string& data, const std::string& labels);

/// The images of a folder: its files whose names end in .jpg, .jpeg or .png, in either case, in the order of the bytes
/// of their names. Other files, and folders in it, are left alone. Throws UsageError for a folder that cannot be read,
/// or that holds none.
std::vector<std::filesystem::path> list_images(const std::filesystem::path& folder);

/// Reads a person's files for their SHA-256; of a folder of images it is that of what `sha256sum` prints of the files
/// in their order. `data` and `labels` have passed check_data_choice. Throws UsageError for what cannot be read.
DataSource find_data(const std::string& data, const std::string& labels);

}  // namespace paretopipe::config
