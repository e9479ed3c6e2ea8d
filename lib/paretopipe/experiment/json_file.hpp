#pragma once
#include <paretopipe/core/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// Parses JSON as people write it: // and /* */ comments are allowed, duplicate keys in an object are not. Throws
/// UsageError that names the line.
nlohmann::json parse_json_text(const std::string& text);

/// The same for a file; errors begin with its name. `what` says what the file is ("experiment") if it cannot be read.
nlohmann::json read_json_file(const std::filesystem::path& file, std::string_view what);

/// A file of configs/ as it was when the library was built, so that an installed program has it, too.
struct ShippedFile {
  std::string_view name;  ///< without the extension
  std::string_view text;
};

/// The files of configs/networks/ and configs/devices/, by name. The build generates the definitions
/// (scripts/cmake/EmbedProfiles.cmake).
const std::vector<ShippedFile>& shipped_network_files();
const std::vector<ShippedFile>& shipped_device_files();

/// True for what has a slash or ends in .json.
bool names_profile_file(const std::string& name_or_file);

/// The profile of this name among those that ship. `kind` is "network profile" or "device profile", and `others` are
/// names that exist besides. Throws UsageError, which lists the known names, for an unknown one.
nlohmann::json shipped_profile(const std::string& name, std::string_view kind, const std::vector<ShippedFile>& shipped,
                               std::vector<std::string> others = {});

/// Reads a file and returns what `read(json, name)` makes of it. `name` is the file's, without folders and extension.
/// Errors begin with the file's name.
template <class Read>
auto load_profile_file(const std::filesystem::path& file, std::string_view kind, const Read& read) {
  const auto json = read_json_file(file, kind);
  return with_prefix(file.string() + ": ", [&] { return read(json, file.stem().string()); });
}

}  // namespace paretopipe::experiment
