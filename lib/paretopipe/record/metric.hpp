#pragma once
#include <paretopipe/record/record.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paretopipe::record {

enum class Direction { min, max };

/// What of a trial a metric is measured in. A trial may do without one of the phases (config::Phases).
enum class MeasuredIn { any_phase, single_stream, offline };

/// A number that a record has, under the name that people use for objectives and columns.
struct Metric {
  std::string_view name;     ///< "latency_p50", "throughput", "payload", …
  std::string_view unit;     ///< of `value`: "ns", "image/s", "B", "B/s", "" for shares
  Direction better;          ///< which way is good
  std::string_view meaning;  ///< one line for help texts
  MeasuredIn measured_in;
  std::optional<double> (*value)(const TrialRecord&);  ///< absent where the record has no such number

  /// True if trials of these phases can have the metric.
  bool measured_by(config::Phases phases) const;
};

/// All metrics, in the order of documentation.
std::span<const Metric> metrics();

/// Throws UsageError listing the known names.
const Metric& find_metric(std::string_view name);

/// The two that trials of these phases are set against each other by, unless a person names others: latency_p50 and
/// throughput; where only one of them was measured, that one and payload, which is known of every cut.
std::array<const Metric*, 2> usual_objectives(config::Phases phases);

}  // namespace paretopipe::record
