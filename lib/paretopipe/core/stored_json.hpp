#pragma once
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// Reading back what paretopipe itself wrote, and noticing what it cannot have written.
namespace paretopipe {

/// The library's message without the code in front of it.
std::string reason_of(const nlohmann::json::exception& error);

/// Equal; two floating-point numbers up to 1e-9 of the larger one, for another machine's compiler may have rounded a
/// derived number differently.
bool nearly_equal(const nlohmann::json& left, const nlohmann::json& right);

/// Throws UsageError unless `json` is an object whose "schema" is the number `schema`. `what` it is ("record") is for
/// the sentence.
void check_schema(const nlohmann::json& json, int schema, std::string_view what);

/// JSON's own conversions take 8.5 for 8, true for 1 and an unknown word for an enum's first value, and derived numbers
/// may not follow from the others. What was understood must be what is written: throws UsageError that names the first
/// place where `understood`, `json` as it would be written again, differs. Fields that only one of them has are another
/// release's, and no harm.
void check_understood(const nlohmann::json& json, const nlohmann::json& understood, std::string_view what);

}  // namespace paretopipe
