#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace paretopipe::launch {

/// What uname(2) calls this machine's architecture, such as "aarch64".
std::string own_architecture();

/// The architecture that a program is built for, in the same words, or "machine N" by the number in its ELF header;
/// empty for what is no ELF file, such as a script, or cannot be read.
std::string architecture_of(const std::filesystem::path& program);

/// A shell's or a launcher's output tells that the program is for another architecture: it is the kernel's refusal, or
/// the words of a shell that has taken the program for a script.
bool tells_of_other_architecture(std::string_view output);

}  // namespace paretopipe::launch
