#include <paretopipe/core/json.hpp>

#include <cmath>

namespace paretopipe {

std::string reason_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

bool nearly_equal(const nlohmann::json& left, const nlohmann::json& right) {
  if (left == right) return true;
  if (!left.is_number_float() || !right.is_number_float()) return false;
  const auto a = left.get<double>();
  const auto b = right.get<double>();
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

void check_schema(const nlohmann::json& json, int schema, std::string_view what) {
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_number_integer()) {
    throw UsageError(fmt::format("this is not a paretopipe {}: it has no \"schema\" number", what));
  }
  const auto& found = json["schema"];
  // The library would treat numbers beyond 63 bits as negative when comparing them with signed ones.
  const bool newer = found.is_number_unsigned() ? found.get<std::uint64_t>() > static_cast<std::uint64_t>(schema)
                                                : found.get<std::int64_t>() > schema;
  if (newer || found != schema) {
    throw UsageError(fmt::format("the {} has schema {}, and this paretopipe reads schema {}; {}", what, found.dump(),
                                 schema, newer ? "use a newer paretopipe" : "measure again"));
  }
}

void check_understood(const nlohmann::json& json, const nlohmann::json& understood, std::string_view what) {
  for (const auto& difference : nlohmann::json::diff(understood, json)) {
    if (difference.at("op") != "replace") continue;
    const nlohmann::json::json_pointer place(difference.at("path").get<std::string>());
    const auto& read = understood.at(place);
    const auto& written = difference.at("value");
    if (nearly_equal(read, written)) continue;
    throw UsageError(fmt::format("the {}'s \"{}\" is {}, which would be read as {}: was it edited by hand?", what,
                                 place.to_string().substr(1), written.dump(), read.dump()));
  }
}

}  // namespace paretopipe
