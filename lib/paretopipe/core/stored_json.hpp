#pragma once
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// Reads back what paretopipe itself wrote, and detects what it cannot have written.
namespace paretopipe {

/// The library's message without its leading error code.
std::string reason_of(const nlohmann::json::exception& error);

/// True if the values are equal. Floating-point numbers may differ by 1e-9 of the larger one, because another machine's
/// compiler may have rounded a derived number differently.
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
