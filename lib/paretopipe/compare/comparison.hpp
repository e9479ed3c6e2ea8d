#pragma once
#include <paretopipe/compare/judge.hpp>
#include <paretopipe/stats/aggregate.hpp>

#include <span>
#include <string>
#include <vector>

namespace paretopipe::compare {

/// One side of a comparison.
struct Side {
  std::string name;  ///< what the user calls it: the path
  std::span<const record::TrialRecord> records;
};

/// What a comparison is to look at.
struct Request {
  std::vector<const record::Metric*> metrics;  ///< those of the rules must be among them
  std::vector<Rule> rules;
  bool strict = false;  ///< what is undecided, and configurations that are missing, count as broken rules
};

/// How many repetitions a configuration has on one side.
struct Repetitions {
  std::size_t ok = 0;
  std::size_t failed = 0;
  std::size_t invalid = 0;
};

/// A configuration that both sides have.
struct ConfigurationChange {
  plan::Trial trial;  ///< its repetition means nothing
  Repetitions base;
  Repetitions now;
  std::vector<Change> changes;    ///< parallel to the request's metrics
  std::vector<Outcome> outcomes;  ///< parallel to the request's rules
};

/// Everything that any output format shows.
struct Comparison {
  Request request;
  std::string base_name;
  std::string new_name;
  std::vector<std::string> base_machines;  ///< that the ok records were measured on, each once; see machines_of()
  std::vector<std::string> new_machines;
  std::vector<ConfigurationChange> configurations;  ///< in the base's order, groups together, by ascending split points
  std::vector<plan::Trial> only_base;               ///< configurations that one side alone has
  std::vector<plan::Trial> only_new;
  bool paired = false;  ///< repetitions that were measured side by side are compared pair by pair

  /// All configurations together, parallel to the request's metrics; medians are absent. None where fewer than two
  /// configurations have numbers above 0.
  std::vector<std::optional<Change>> together;
  std::vector<std::optional<Outcome>> together_outcomes;  ///< parallel to the request's rules

  /// Over all checks: every rule in every configuration, and in all together.
  std::size_t count(Outcome outcome) const;
  /// The change that `rule` (an index) looks at.
  const Change& change_of(const ConfigurationChange& configuration, std::size_t rule) const;
  const std::optional<Change>& together_of(std::size_t rule) const;
  /// A rule is broken, or, if the request is strict, undecided, or the new side lacks a configuration.
  bool regression() const;
};

/// Finds the configurations that both sides have, by the identity of their trials without the repetition. Throws
/// UsageError when there is none.
Comparison compare(const Side& base, const Side& now, Request request);

}  // namespace paretopipe::compare
