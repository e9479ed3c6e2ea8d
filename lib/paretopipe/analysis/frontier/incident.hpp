#pragma once
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

/// Incidents during the measurement of trials that a reader of their numbers should know.
namespace paretopipe::frontier {

/// What happened to a measurement.
enum class Consequence {
  counted,
  measured_again,  ///< replaced by a later record of the same trial
  not_counted,     ///< invalid and not replaced
};

/// One measurement of a trial that did not go smoothly.
struct Incident {
  experiment::Cut cut;
  std::string split;   ///< for people (split_label)
  int repetition = 0;  ///< from 0
  Consequence consequence = Consequence::counted;
  int late_single_stream = 0;  ///< batches by which the warm-up of the phase exceeded the requested one
  int late_offline = 0;
  record::Outliers outliers{};              ///< only of a record that counts
  std::vector<std::string> slow_downs{};    ///< in sentences (stats::slow_down_sentences)
  std::vector<std::string> disturbances{};  ///< disturbances of the machine, from the record (stats::disturbances)
  std::string reason{};                     ///< why it was repeated or does not count; empty if it counts
};

/// None for a record that counts and had no incident, and for a failed record that was not replaced: the split reports
/// its failures itself. `again`: whether a later record replaced it.
std::optional<Incident> incident_of(const record::TrialRecord& record, bool again);

/// By split points, then by repetition.
bool comes_before(const Incident& left, const Incident& right);

/// What happened, in words and without the cause: "the warm-up of the latency run became 2 batches longer; outliers:
/// batches 9,12-14 of the throughput run".
std::string what_happened(const Incident& incident);

/// Counts of incidents: "2 measurements made again; 1 trial with a longer warm-up". Empty if there are none.
std::string summarise(std::span<const Incident> incidents);

}  // namespace paretopipe::frontier
