#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace paretopipe::support {

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_file(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// An ELF header for the machine of that number, as <elf.h> has them, in `file`, which may then be executed: by
/// nothing.
inline void write_program_for(unsigned char machine, const std::filesystem::path& file) {
  std::string header("\177ELF\2\1\1", 7);
  header.resize(64);
  header[16] = 2;  // ET_EXEC
  header[18] = static_cast<char>(machine);
  write_file(file, header);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

}  // namespace paretopipe::support
