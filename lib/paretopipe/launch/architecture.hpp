#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace paretopipe::launch {

/// What uname(2) calls this machine's architecture, such as "aarch64".
std::string own_architecture();

/// The architecture that a program is built for: "x86_64" or "aarch64" as uname(2) has it; "arm", "ppc64" or "riscv"
/// for each of these families; or "machine N" with the number in its ELF header. Empty if the file is no ELF file, such
/// as a script, or cannot be read.
std::string architecture_of(const std::filesystem::path& program);

/// True if the output of a shell or a launcher tells that a program is for another architecture. It contains the
/// kernel's refusal, or what a shell prints that has taken the program for a script.
bool tells_of_other_architecture(std::string_view output);

}  // namespace paretopipe::launch
