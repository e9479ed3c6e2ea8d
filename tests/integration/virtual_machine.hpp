#pragma once
// What tests share that only a machine of their own can bear, which tests/uml gives them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <support/catch.hpp>

namespace paretopipe::support {

/// Memory limits provoke the kernel's killer: only in a machine of its own.
inline void need_virtual_machine() {
  if (std::getenv("PARETOPIPE_UML") == nullptr) skip("tests/uml runs this");
}

/// The contents of a file of /proc or /sys, whose size nothing tells.
inline std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace paretopipe::support
