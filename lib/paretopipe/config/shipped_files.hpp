#pragma once
#include <string_view>
#include <vector>

namespace paretopipe::config {

/// A file of configs/ as it was when the library was built, so that an installed program knows its name.
struct ShippedFile {
  std::string_view name;  ///< without the extension
  std::string_view text;
};

/// The files of configs/networks/ and configs/devices/, by name. The build generates the definitions
/// (scripts/cmake/EmbedProfiles.cmake).
const std::vector<ShippedFile>& shipped_network_files();
const std::vector<ShippedFile>& shipped_device_files();

}  // namespace paretopipe::config
