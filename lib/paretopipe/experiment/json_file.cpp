#include <paretopipe/core/json.hpp>
#include <paretopipe/experiment/json_file.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

namespace paretopipe::experiment {

namespace {

std::string read_file(const std::filesystem::path& file, std::string_view what) {
  const auto refuse = [&](int error) {
    throw UsageError(system_error(fmt::format("read {} {}", what, file.string()), error).what());
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) refuse(EISDIR);  // it would open and fail at the first read
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(errno);
  std::ostringstream contents;
  contents << stream.rdbuf();
  return std::move(contents).str();
}

/// The library's message without its own position.
std::string reason_without_position(const nlohmann::json::exception& error) {
  const auto reason = reason_of(error);
  const auto position = reason.starts_with("parse error") ? reason.find(": ") : std::string::npos;
  return position == std::string::npos ? reason : reason.substr(position + 2);
}

/// Finds duplicate keys. The library would keep the last of them, but the user meant only one.
class DuplicateKeys {
 public:
  bool operator()(int /*depth*/, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) objects_.emplace_back();
    if (event == Event::object_end) objects_.pop_back();
    if (event == Event::key && !objects_.back().insert(parsed.get<std::string>()).second) {
      throw UsageError(fmt::format("the key \"{}\" stands twice in the same object", parsed.get<std::string>()));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> objects_;
};

}  // namespace

nlohmann::json parse_json_text(const std::string& text) {
  try {
    return nlohmann::json::parse(text, DuplicateKeys{}, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end, '\n');
    throw UsageError(fmt::format("line {}: {}", line, reason_without_position(error)));
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(reason_without_position(error));
  }
}

nlohmann::json read_json_file(const std::filesystem::path& file, std::string_view what) {
  const auto text = read_file(file, what);
  return with_prefix(file.string() + ": ", [&] { return parse_json_text(text); });
}

bool names_profile_file(const std::string& name_or_file) {
  return name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".json");
}

nlohmann::json shipped_profile(const std::string& name, std::string_view kind, const std::vector<ShippedFile>& shipped,
                               std::vector<std::string> names) {
  for (const auto& file : shipped) {
    if (file.name == name) return parse_json_text(std::string(file.text));
    names.emplace_back(file.name);
  }
  throw UsageError(fmt::format("there is no {} \"{}\"{}; known are {}, or a file, as in ./{}.json", kind, name,
                               did_you_mean(name, names), fmt::join(names, ", "), name));
}

}  // namespace paretopipe::experiment
