#pragma once
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // fmt::join, from fmt 11 on
#include <nlohmann/json.hpp>

namespace paretopipe {

/// Reads a JSON object that a person wrote. Every error is a UsageError that names the key by its path
/// ("experiment.tuning.threads"). Keys that nobody asked for are errors too, so that a mistyped key does not silently
/// leave a default.
class ObjectReader {
 public:
  ObjectReader(const nlohmann::json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object_.is_object())
      throw UsageError(fmt::format("{} must be a JSON object, not {}", path_, object_.type_name()));
  }

  /// Leaves `value` unchanged if the key is missing.
  template <class T>
  void read(const std::string& key, T& value) {
    add_once(known_, key);
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    try {
      if (is_number_for<T>(*found)) {
        found->get_to(value);
        return;
      }
    } catch (const nlohmann::json::exception&) {  // reported below as the user's mistake
    }
    throw UsageError(fmt::format("{}.{} has the wrong type or range: {}", path_, key, found->dump()));
  }

  template <class T>
  T require(const std::string& key) {
    if (!object_.contains(key)) throw UsageError(fmt::format("{}.{} is missing", path_, key));
    T value{};
    read(key, value);
    return value;
  }

  /// The raw value of a nested key, or nullptr. The key counts as known.
  const nlohmann::json* find(const std::string& key) {
    add_once(known_, key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  /// Throws for the first key that was never asked for. Call it last.
  void refuse_unknown_keys() const {
    for (const auto& item : object_.items()) {
      if (std::find(known_.begin(), known_.end(), item.key()) == known_.end()) {
        throw UsageError(fmt::format("{} has an unknown key \"{}\"; known keys: {}{}", path_, item.key(),
                                     fmt::join(known_, ", "), did_you_mean(item.key(), known_)));
      }
    }
  }

 private:
  /// True for every T that is neither a number nor a list of numbers. nlohmann converts 1.5 to the integer 1, true to 1
  /// and -1 to a huge unsigned number, none of which the person meant.
  template <class T>
  static bool is_number_for(const nlohmann::json& value) {
    if constexpr (std::is_floating_point_v<T>) {
      return value.is_number();
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (!value.is_number_integer()) return false;
      // Numbers that a program put there may be signed, though not negative.
      if (value.is_number_unsigned() || value.get<std::int64_t>() >= 0) {
        return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
      }
      return std::is_signed_v<T> &&
             value.get<std::int64_t>() >= static_cast<std::int64_t>(std::numeric_limits<T>::min());
    }
    return are_numbers_for(static_cast<const T*>(nullptr), value);
  }

  /// True if each item of a list is such a number, or the value is no list, which the reader refuses.
  template <class Item>
  static bool are_numbers_for(const std::vector<Item>*, const nlohmann::json& value) {
    return !value.is_array() ||
           std::all_of(value.begin(), value.end(), [](const auto& item) { return is_number_for<Item>(item); });
  }
  static bool are_numbers_for(const void*, const nlohmann::json&) { return true; }

  const nlohmann::json& object_;
  std::string path_;
  std::vector<std::string> known_;
};

// Reads back what paretopipe itself wrote, and detects what it cannot have written.

/// The library's message without its leading error code.
std::string reason_of(const nlohmann::json::exception& error);

/// True if the values are equal. Floating-point numbers may differ by 1e-9 of the larger one, because another machine's
/// compiler may have rounded a derived number differently. A whole number equals a floating-point one only if both are
/// exactly the same number, on every architecture.
bool nearly_equal(const nlohmann::json& left, const nlohmann::json& right);

/// Throws UsageError unless `json` is an object whose "schema" is the number `schema`. `what` names its kind ("record")
/// in the message.
void check_schema(const nlohmann::json& json, int schema, std::string_view what);

/// Throws UsageError that names the first place where `json` differs from `understood`, which is `json` as it would be
/// written again. This catches silent conversions (8.5 to 8, true to 1, an unknown word to an enum's first value) and
/// derived numbers that do not follow from the others. Fields that only one of the two has are accepted: they belong to
/// another release.
void check_understood(const nlohmann::json& json, const nlohmann::json& understood, std::string_view what);

}  // namespace paretopipe
