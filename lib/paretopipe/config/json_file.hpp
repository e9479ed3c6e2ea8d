#pragma once
#include <paretopipe/core/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// JSON as people write it: with // and /* */ comments, and without a key that stands twice in the same object. Throws
/// UsageError that names the line.
nlohmann::json parse_json_text(const std::string& text);

/// The same for a file; errors begin with its name. `what` it is ("experiment") is for the error of one that cannot be
/// read.
nlohmann::json read_json_file(const std::filesystem::path& file, std::string_view what);

/// Runs `action`, and puts the file's name before a UsageError of it.
template <class Action>
auto naming_file(const std::filesystem::path& file, Action&& action) {
  try {
    return action();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace paretopipe::config
