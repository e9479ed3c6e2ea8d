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

/// A file that may be executed.
inline void write_program(const std::filesystem::path& file, std::string_view text) {
  write_file(file, text);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

/// A program of these lines, which /bin/sh interprets.
inline void write_script(const std::filesystem::path& file, const std::string& lines) {
  write_program(file, "#!/bin/sh\n" + lines + "\n");
}

/// An ELF header for the machine of that number, as <elf.h> has them, in `file`, which may then be executed: by
/// nothing.
inline void write_program_for(unsigned char machine, const std::filesystem::path& file) {
  std::string header("\177ELF\2\1\1", 7);
  header.resize(64);
  header[16] = 2;  // ET_EXEC
  header[18] = static_cast<char>(machine);
  write_program(file, header);
}

}  // namespace paretopipe::support
