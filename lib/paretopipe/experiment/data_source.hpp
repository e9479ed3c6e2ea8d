#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace paretopipe::experiment {

/// In place of a labels file: the labels that the data set itself contains.
inline constexpr const char* kOwnLabels = "own";

/// What identifies data besides their name. Part of a trial's identity, unlike the files' path.
struct DataIdentity {
  std::string sha256{};  ///< of a user's files, 64 hexadecimal digits; otherwise empty
  std::string labels{};  ///< SHA-256 of the labels' file, or kOwnLabels; empty: no labels

  bool operator==(const DataIdentity&) const = default;
};

/// Data as the user named them, looked up.
struct DataSource {
  std::string name;     ///< for people and records; user files are named without their folders
  std::string request;  ///< for a stage; user files have an absolute path
  std::string labels;   ///< for a stage: an absolute path, kOwnLabels, or empty
  DataIdentity identity;
};

/// "images:/home/me/photos" is user data of the kind "images" at that place. The kinds are fashion-mnist,
/// fashion-mnist-train, cifar10, random, images, tensor and tokens.
struct DataChoice {
  std::string kind;
  std::string place;  ///< empty if none is named

  bool own_labels() const;  ///< the data contain their labels
  bool of_images() const;
  bool own_files() const { return kind == "images" || kind == "tensor" || kind == "tokens"; }
};
DataChoice parse_data(const std::string& data);

/// DataSource::name of the data. Reads no file.
std::string name_of_data(const std::string& data);

/// Throws UsageError, a sentence without the experiment's key, for an unknown kind, for a missing or superfluous place,
/// and for labels that the data cannot have. Reads no file.
void check_data_choice(const std::string& data, const std::string& labels);

/// The images of a folder: its files whose names end in .jpg, .jpeg or .png (in any case), sorted by the bytes of their
/// names. Ignores other files and subfolders. Throws UsageError if the folder cannot be read or holds no image.
std::vector<std::filesystem::path> list_images(const std::filesystem::path& folder);

/// Looks up data and reads the user's files for their SHA-256. For a folder of images, this is the SHA-256 of what
/// `sha256sum` prints for the files in their order. `data` and `labels` must have passed check_data_choice. Throws
/// UsageError if a file cannot be read.
DataSource find_data(const std::string& data, const std::string& labels);

}  // namespace paretopipe::experiment
