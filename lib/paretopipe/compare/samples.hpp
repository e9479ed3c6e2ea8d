#pragma once
#include <paretopipe/compare/comparison.hpp>

#include <optional>
#include <vector>

/// Extracts the numbers to compare from records.
namespace paretopipe::compare {

/// A configuration as both sides have it.
struct Matched {
  const Side& base_side;
  const Side& new_side;
  const stats::Configuration& base;
  const stats::Configuration& now;
};

/// True if any repetition has a partner, that is, if the two sides were measured side by side.
bool any_pair(const std::vector<Matched>& configurations);

/// The values of one metric in one configuration, each with its repetition.
struct Measured {
  Samples samples;
  std::vector<int> base_repetitions;
  std::vector<int> new_repetitions;
};

/// With `paired`, only repetitions that were measured side by side count, unless no new repetition is left to pair
/// with.
Measured measured(const Matched& configuration, const record::Metric& metric, bool paired);

/// All configurations together: one geometric mean for each repetition that has a value in all of them. Each value
/// enters as a multiple of the base's median in its configuration, so that all configurations weigh the same.
/// Configurations with a value that is not above 0, or with a side without values, are left out. None if fewer than two
/// configurations remain, or if no repetition has all of them.
std::optional<Samples> together(const std::vector<Measured>& configurations, bool paired);

}  // namespace paretopipe::compare
