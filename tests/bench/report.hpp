#pragma once
#include <paretopipe/core/clock.hpp>

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace paretopipe::bench {

/// What `work` takes.
template <class Work>
double seconds_of(const Work& work) {
  const auto begin = now_ns();
  work();
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

/// One line of the benchmark's table, in Markdown: what was measured, how much, and what was promised. Cases of one
/// promise have the same words before ": ".
inline void print_row(const std::string& what, const std::string& measured, const std::string& promised, bool kept) {
  fmt::print("| {:<58} | {:>14} | {:<28} | {} |\n", what, measured, promised, kept ? "kept" : "MISSED");
  std::fflush(stdout);  // a row may take seconds
}

/// Of what nothing was promised.
inline void print_row(const std::string& what, const std::string& measured) {
  fmt::print("| {:<58} | {:>14} | {:<28} |  |\n", what, measured, "");
  std::fflush(stdout);
}

}  // namespace paretopipe::bench
