#include <paretopipe/core/json.hpp>

#include <cmath>

namespace paretopipe {

std::string reason_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

namespace {

bool is_negative(const nlohmann::json& integer) {
  return !integer.is_number_unsigned() && integer.get<std::int64_t>() < 0;
}

/// The library would compare a negative number with one beyond 63 bits by their bits.
bool equal_integers(const nlohmann::json& left, const nlohmann::json& right) {
  return is_negative(left) == is_negative(right) && left.get<std::uint64_t>() == right.get<std::uint64_t>();
}

/// The whole number that is exactly `value`, as JSON; null if there is none in 64 bits. C++ leaves open what a double
/// beyond the range of an integer becomes: x86 makes it 0 or the smallest number, and ARM makes it the nearest.
nlohmann::json exact_integer(double value) {
  if (!(value >= -0x1p63 && value < 0x1p64) || value != std::trunc(value)) return nullptr;
  if (value < 0) return static_cast<std::int64_t>(value);
  return static_cast<std::uint64_t>(value);
}

bool equal_to_integer(const nlohmann::json& integer, double value) {
  const auto exact = exact_integer(value);
  return !exact.is_null() && equal_integers(integer, exact);
}

}  // namespace

bool nearly_equal(const nlohmann::json& left, const nlohmann::json& right) {
  if (!left.is_number() || !right.is_number()) return left == right;
  if (!left.is_number_float()) {
    return right.is_number_float() ? equal_to_integer(left, right.get<double>()) : equal_integers(left, right);
  }
  if (!right.is_number_float()) return equal_to_integer(right, left.get<double>());
  const auto a = left.get<double>();
  const auto b = right.get<double>();
  return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
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

namespace {

/// Where two documents differ: the keys and indices of the place from the innermost to the outermost, and both values.
struct Difference {
  std::vector<std::string> inside_out;
  const nlohmann::json& read;
  const nlohmann::json& written;
};

std::optional<Difference> find_difference(const nlohmann::json& read, const nlohmann::json& written);

std::optional<Difference> find_difference_at(std::string key, const nlohmann::json& read,
                                             const nlohmann::json& written) {
  auto found = find_difference(read, written);
  if (found) found->inside_out.push_back(std::move(key));
  return found;
}

/// The first difference. A field that only one of the documents has does not count.
std::optional<Difference> find_difference(const nlohmann::json& read, const nlohmann::json& written) {
  if (read.is_object() && written.is_object()) {
    for (const auto& [key, value] : read.items()) {
      const auto place = written.find(key);
      if (place == written.end()) continue;
      if (auto found = find_difference_at(key, value, *place)) return found;
    }
    return std::nullopt;
  }
  if (read.is_array() && written.is_array()) {
    for (std::size_t i = 0; i < std::min(read.size(), written.size()); ++i) {
      if (auto found = find_difference_at(std::to_string(i), read[i], written[i])) return found;
    }
    return std::nullopt;
  }
  if (nearly_equal(read, written)) return std::nullopt;
  return Difference{{}, read, written};
}

}  // namespace

void check_understood(const nlohmann::json& json, const nlohmann::json& understood, std::string_view what) {
  // The library's == would not do: it takes 2^64 for equal to the largest whole number, which is 2^64 − 1.
  const auto difference = find_difference(understood, json);
  if (!difference) return;
  const auto& place = difference->inside_out;
  throw UsageError(fmt::format("the {}'s \"{}\" is {}, which would be read as {}: was it edited by hand?", what,
                               fmt::join(place.rbegin(), place.rend(), "/"), difference->written.dump(),
                               difference->read.dump()));
}

}  // namespace paretopipe
