#pragma once
#include <cstddef>
#include <string_view>

namespace paretopipe::script {

/// An upper bound on how deep LibTorch's recursive parser and compiler go into a statement of TorchScript source. It is
/// the number of brackets, operators and levels of indentation of a statement, over all its lines, outside of strings
/// and comments. Returns the largest of all statements.
std::size_t deepest_statement(std::string_view code);

/// No model comes near this depth, and LibTorch still handles it with the usual stack of 8 MiB.
inline constexpr std::size_t kDeepestStatement = 2000;

}  // namespace paretopipe::script
