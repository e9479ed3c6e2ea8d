#pragma once
#include <charconv>
#include <cstdint>
#include <string>

#include <fmt/format.h>

/// Checks for numbers that CLI11 would misread: 010 as 8, -1 as 2^64 - 1. Each returns the error, or nothing.
namespace paretopipe::cli {

inline std::string check_decimal(const std::string& text) {
  const auto digits = text.find_first_not_of('-');
  const bool right = digits != text.npos && digits <= 1 && text.find_first_not_of("0123456789", digits) == text.npos &&
                     (text[digits] != '0' || digits + 1 == text.size());
  return right ? "" : fmt::format("\"{}\" is no whole number in decimal digits", text);
}

inline std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seed);
  if (check_decimal(text).empty() && error == std::errc() && rest == end) return "";
  return fmt::format("\"{}\" is no seed: it must be a whole number from 0 to 2^64 - 1", text);
}

}  // namespace paretopipe::cli
