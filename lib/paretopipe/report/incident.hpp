#pragma once
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

/// What went on while trials were measured that a reader of their numbers should know.
namespace paretopipe::report {

/// What became of a measurement.
enum class Consequence {
  counted,
  measured_again,  ///< a later record of the same trial counts in its place
  not_counted,     ///< invalid, and nothing came after it
};

/// One measurement of a trial that was not as smooth as it might have been.
struct Incident {
  std::vector<int> split_points;
  std::string split;   ///< for people (split_label)
  int repetition = 0;  ///< from 0
  Consequence consequence = Consequence::counted;
  int late_single_stream = 0;  ///< batches by which the warm-up of the phase became longer than asked for
  int late_offline = 0;
  record::Outliers outliers{};              ///< of what counts; of what does not they matter to nobody
  std::vector<std::string> slow_downs{};    ///< in sentences (stats::slow_down_sentences)
  std::vector<std::string> disturbances{};  ///< what the record's evidence shows of the machine (stats::disturbances)
  std::string reason{};                     ///< why it was measured again or does not count; empty for what counts
};

/// None for a record that counts and in which nothing happened, and for one that failed and stays so: of failures a
/// split tells itself. `again`: whether a later record took its place.
std::optional<Incident> incident_of(const record::TrialRecord& record, bool again);

/// By split points, then by repetition.
bool comes_before(const Incident& left, const Incident& right);

/// In words, without why: "the warm-up of the latency run became 2 batches longer; outliers: batches 9,12-14 of the
/// throughput run".
std::string what_happened(const Incident& incident);

/// How often what happened: "2 measurements made again; 1 trial with a longer warm-up". Empty for none.
std::string summarise(std::span<const Incident> incidents);

}  // namespace paretopipe::report
