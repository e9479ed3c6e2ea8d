#include <paretopipe/launch/architecture.hpp>

#include <array>
#include <fstream>

#include <sys/utsname.h>

#include <elf.h>
#include <fmt/format.h>

namespace paretopipe::launch {

std::string own_architecture() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "";
}

std::string architecture_of(const std::filesystem::path& program) {
  // Up to the machine, the header is the same for 32 and 64 bits. Its byte order is the program's.
  std::array<unsigned char, EI_NIDENT + 4> header{};
  std::ifstream file(program, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(header.data()), header.size())) return "";
  const std::string_view magic(reinterpret_cast<const char*>(header.data()), SELFMAG);
  if (magic != ELFMAG) return "";
  const bool big_endian = header[EI_DATA] == ELFDATA2MSB;
  const unsigned first = header[EI_NIDENT + 2];
  const unsigned second = header[EI_NIDENT + 3];
  switch (const unsigned machine = big_endian ? first << 8 | second : second << 8 | first) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return "ppc64";
    case EM_RISCV:
      return "riscv";
    default:
      return fmt::format("machine {}", machine);
  }
}

bool tells_of_other_architecture(std::string_view output) {
  return output.find("Exec format error") != output.npos || output.find(ELFMAG) != output.npos;
}

}  // namespace paretopipe::launch
