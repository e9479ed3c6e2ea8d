#include "golden.hpp"

#include <cstdlib>
#include <filesystem>

#include <support/files.hpp>

namespace paretopipe::testing {

std::string golden(const std::string& name, const std::string& actual) {
  const auto file = std::filesystem::path(PARETOPIPE_SOURCE_DIR) / "tests/golden/report" / name;
  if (std::getenv("PARETOPIPE_UPDATE_GOLDEN")) {
    std::filesystem::create_directories(file.parent_path());
    support::write_file(file, actual);
  }
  return support::read_file(file);
}

}  // namespace paretopipe::testing
