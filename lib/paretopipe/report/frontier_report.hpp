#pragma once
#include <paretopipe/report/objective.hpp>
#include <paretopipe/stats/aggregate.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::report {

/// One split of a group.
struct FrontierRow {
  stats::Configuration configuration;
  std::vector<std::optional<double>> values;  ///< medians over the ok repetitions, parallel to the objectives
  std::optional<double> payload_bytes;
  bool on_frontier = false;
  std::optional<std::size_t> dominated_by;  ///< a row of the same group that is on the frontier
  std::vector<std::string> failures;        ///< what failed repetitions died of, each reason once
  std::vector<std::string> deviations;      ///< why invalid repetitions do not count, each reason once

  bool complete() const;  ///< has every objective; a row that has not cannot be compared
};

/// The splits of one model under the same settings, by ascending split points.
struct FrontierGroup {
  std::vector<FrontierRow> rows;

  const plan::Trial& settings() const { return rows.front().configuration.trial; }
};

/// One frontier for each group. What every output format shows.
struct FrontierReport {
  std::vector<Objective> objectives;
  std::vector<FrontierGroup> groups;
};

FrontierReport make_frontier_report(std::span<const record::TrialRecord> records, std::vector<Objective> objectives);

}  // namespace paretopipe::report
