#pragma once
#include <cstddef>
#include <string_view>

namespace paretopipe::script {

/// How deep LibTorch's parser and compiler, which call themselves for everything that is nested, may have to go into a
/// statement of TorchScript's source: no more than the statement has brackets, operators and levels of indentation.
/// Counts what lies in one statement, over all lines that it stretches over, outside of strings and comments; the
/// largest of all statements.
std::size_t deepest_statement(std::string_view code);

/// What no model comes near, and LibTorch still bears with the usual stack of 8 MiB.
inline constexpr std::size_t kDeepestStatement = 2000;

}  // namespace paretopipe::script
