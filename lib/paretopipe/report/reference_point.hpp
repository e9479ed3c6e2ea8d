#pragma once
#include <paretopipe/report/objective.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paretopipe::report {

/// Parses the values of a hypervolume's reference point, parallel to `objectives`, from texts such as
/// "latency_p50=500ms"; none for objectives without a text. Throws UsageError for an unknown objective or unit, and for
/// one that is given twice.
std::vector<std::optional<double>> parse_reference(const std::vector<std::string>& texts,
                                                   const std::vector<Objective>& objectives);

}  // namespace paretopipe::report
