#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

#include <support/files.hpp>

namespace paretopipe::support {

/// The text of tests/golden/NAME, which is what the output must be, byte for byte. After a change that is meant, run
/// the test once with PARETOPIPE_UPDATE_GOLDEN=1: `actual` is then written to the file first. Read the diff.
inline std::string golden(const std::string& name, const std::string& actual) {
  const auto file = std::filesystem::path(PARETOPIPE_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("PARETOPIPE_UPDATE_GOLDEN")) {
    std::filesystem::create_directories(file.parent_path());
    write_file(file, actual);
  }
  return read_file(file);
}

}  // namespace paretopipe::support
