#pragma once
#include <paretopipe/analysis/compare/judge.hpp>
#include <paretopipe/analysis/stats/aggregate.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::compare {

/// One side of a comparison.
struct Side {
  std::string name;  ///< the path that the user gave
  std::span<const record::TrialRecord> records;
};

/// What to compare.
struct Request {
  std::vector<const record::Metric*> metrics;  ///< must include those of the rules
  std::vector<Rule> rules;
  bool strict = false;  ///< undecided checks and missing configurations count as broken rules
};

/// How many repetitions a configuration has on one side.
struct Repetitions {
  std::size_t ok = 0;
  std::size_t failed = 0;
  std::size_t invalid = 0;
};

/// A configuration that both sides have.
struct ConfigurationChange {
  experiment::Trial trial;  ///< its repetition has no meaning here
  Repetitions base;
  Repetitions now;
  std::vector<Change> changes;    ///< parallel to the request's metrics
  std::vector<Outcome> outcomes;  ///< parallel to the request's rules
};

/// All that the output formats show.
struct Comparison {
  Request request;
  std::string base_name;
  std::string new_name;
  std::vector<std::string> base_machines;  ///< machines of the ok records, each once (machines_of())
  std::vector<std::string> new_machines;
  std::vector<ConfigurationChange> configurations;  ///< groups in the base's order, then by split points
  std::vector<experiment::Trial> only_base;         ///< configurations that only one side has
  std::vector<experiment::Trial> only_new;
  bool paired = false;  ///< repetitions measured side by side are compared pair by pair

  /// All configurations together, parallel to the request's metrics; medians are absent. An entry is empty where fewer
  /// than two configurations have only values above 0.
  std::vector<std::optional<Change>> together;
  std::vector<std::optional<Outcome>> together_outcomes;  ///< parallel to the request's rules

  /// Counts over all checks: every rule in every configuration and in all together.
  std::size_t count(Outcome outcome) const;
  /// The change of the metric of the rule with index `rule`.
  const Change& change_of(const ConfigurationChange& configuration, std::size_t rule) const;
  const std::optional<Change>& together_of(std::size_t rule) const;
  /// True if a rule is broken. In a strict request also true if a rule is undecided or the new side lacks a
  /// configuration.
  bool regression() const;
};

/// Compares the configurations that both sides have, matched by the identity of their trials without the repetition.
/// Throws UsageError if there is none.
Comparison compare(const Side& base, const Side& now, Request request);

}  // namespace paretopipe::compare
