#pragma once
#include <paretopipe/record/record.hpp>

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace paretopipe::record {

enum class Direction { min, max };

/// The phase that a metric is measured in. A trial may lack one of the phases (experiment::Phases).
enum class MeasuredIn { any_phase, inference, single_stream, offline, offline_or_training, training };

/// A number of a record, under its name in objectives and columns.
struct Metric {
  std::string_view name;     ///< "latency_p50", "throughput", "payload", …
  std::string_view unit;     ///< of `value`: "ns", "image/s", "B", "B/s", "" for shares
  Direction better;          ///< the good direction
  std::string_view meaning;  ///< one line for help texts
  MeasuredIn measured_in;
  std::optional<double> (*value)(const TrialRecord&);  ///< absent if the record has no such number

  /// True if trials of these phases can have the metric.
  bool measured_by(experiment::Phases phases) const;
};

/// All metrics, in the order of documentation.
std::span<const Metric> metrics();

/// Throws UsageError listing the known names.
const Metric& find_metric(std::string_view name);

/// The default pair of objectives for trials of these phases: latency_p50 and throughput. If only one of them was
/// measured, that one and payload, which is known for every cut. For training: step_time and peak_memory.
std::array<const Metric*, 2> usual_objectives(experiment::Phases phases);

}  // namespace paretopipe::record
