#pragma once
#include <paretopipe/analysis/frontier/frontier.hpp>
#include <paretopipe/record/metric.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::frontier {

/// One objective of a frontier: a metric and its good direction.
struct Objective {
  const record::Metric* metric = nullptr;  ///< one of record::metrics(), never null
  record::Direction direction = record::Direction::min;

  /// As people write it: "latency_p50:min".
  std::string label() const;
};

/// "latency_p50:min", or "latency_p50" with the metric's own direction. Throws UsageError that lists what is known.
Objective parse_objective(std::string_view text);

/// The phases that the ok records have: both if one record has both, or if none is ok; single_stream if some have one
/// phase and some the other.
experiment::Phases measured_phases(std::span<const record::TrialRecord> records);

/// Without texts, record::usual_objectives() of these phases. Throws UsageError if a metric is named twice.
std::vector<Objective> parse_objectives(const std::vector<std::string>& texts,
                                        experiment::Phases measured = experiment::Phases::both);

/// The objective's direction, as Points take it.
inline Sense sense_of(const Objective& objective) {
  return objective.direction == record::Direction::min ? Sense::minimise : Sense::maximise;
}

inline std::vector<Sense> senses_of(const std::vector<Objective>& objectives) {
  std::vector<Sense> senses;
  for (const auto& objective : objectives) senses.push_back(sense_of(objective));
  return senses;
}

/// Parses a value in the unit of a metric, as people write it: "80ms" (unit "ns"), "512 MiB" ("B"), "5 MiB/s" or "40
/// Mbit/s" ("B/s"), "100 image/s" or "100" ("image/s"), "5 %" or "0.05" (""). Throws UsageError that says how to write
/// it.
double parse_value(std::string_view text, std::string_view unit);

enum class Comparison { less, at_most, greater, at_least, equal, unequal };

/// A bound of a metric's median that a split must keep to be considered, or the codec that it must have or must not.
struct Constraint {
  const record::Metric* metric = nullptr;  ///< one of record::metrics(); null: it is about the codec
  Comparison comparison = Comparison::less;
  double bound = 0;     ///< in the metric's unit
  std::string codec{};  ///< canonical (experiment::canonical_codec)

  /// Judges a median; only with a metric.
  bool holds(double value) const;

  /// Judges a row's codec; only without a metric. If all is local, nothing crosses a cut, and any codec is right.
  bool holds_for_codec(const experiment::Trial& trial) const;

  /// As people write it: "latency_p95 < 80.0 ms", "codec = channel8".
  std::string label() const;
};

/// "latency_p95 < 80ms", "peak_rss<=512MiB", "throughput > 100", "codec = channel8", "codec != sort4". Throws
/// UsageError that lists what is known.
Constraint parse_constraint(std::string_view text);

std::vector<Constraint> parse_constraints(const std::vector<std::string>& texts);

/// Parses the values of a hypervolume's reference point, parallel to `objectives`, from texts such as
/// "latency_p50=500ms"; none for objectives without a text. Throws UsageError for an unknown objective or unit, and for
/// one that is given twice.
std::vector<std::optional<double>> parse_reference(const std::vector<std::string>& texts,
                                                   const std::vector<Objective>& objectives);

}  // namespace paretopipe::frontier
