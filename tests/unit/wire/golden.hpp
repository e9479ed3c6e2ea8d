#pragma once
#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

// The committed frames, and the files that quote them.

inline std::string read_source_file(const std::string& path) {
  std::ifstream file(PARETOPIPE_SOURCE_DIR "/" + path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string golden_text(const std::string& name) {
  return read_source_file("tests/golden/wire/" + name + ".hex");
}

inline std::vector<std::byte> golden_bytes(const std::string& name) {
  std::ifstream file(PARETOPIPE_SOURCE_DIR "/tests/golden/wire/" + name + ".hex");
  std::vector<std::byte> bytes;
  for (unsigned value = 0; file >> std::hex >> value;) bytes.push_back(static_cast<std::byte>(value));
  if (bytes.empty()) throw std::runtime_error("cannot read the golden frame " + name);
  return bytes;
}
