#pragma once
#include <string_view>
#include <vector>

namespace paretopipe::config {

/// A file of configs/networks/ as it was when the library was built, so that an installed program knows it by name.
struct ShippedNetworkFile {
  std::string_view name;  ///< without the ending
  std::string_view text;
};

/// By name. The build writes the definition (scripts/cmake/EmbedNetworks.cmake).
const std::vector<ShippedNetworkFile>& shipped_network_files();

}  // namespace paretopipe::config
