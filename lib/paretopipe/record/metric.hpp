#pragma once
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paretopipe::record {

enum class Direction { min, max };

/// A number that a record has, under the name that people use for objectives and columns.
struct Metric {
  std::string_view name;                               ///< "latency_p50", "throughput", "payload", …
  std::string_view unit;                               ///< of `value`: "ns", "image/s", "B", "B/s", "" for shares
  Direction better;                                    ///< which way is good
  std::string_view meaning;                            ///< one line for help texts
  std::optional<double> (*value)(const TrialRecord&);  ///< absent where the record has no such number
};

/// All metrics, in the order of documentation.
std::span<const Metric> metrics();

/// Throws UsageError listing the known names.
const Metric& find_metric(std::string_view name);

}  // namespace paretopipe::record
