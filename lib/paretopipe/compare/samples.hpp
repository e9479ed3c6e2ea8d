#pragma once
#include <paretopipe/compare/comparison.hpp>

#include <optional>
#include <vector>

/// From records to the numbers that are compared.
namespace paretopipe::compare {

/// A configuration as both sides have it.
struct Matched {
  const Side& base_side;
  const Side& new_side;
  const stats::Configuration& base;
  const stats::Configuration& now;
};

/// True if any repetition has a partner: the two sides were then measured side by side.
bool any_pair(const std::vector<Matched>& configurations);

/// The values of one metric in one configuration, and the repetition that each is of.
struct Measured {
  Samples samples;
  std::vector<int> base_repetitions;
  std::vector<int> new_repetitions;
};

/// `paired`: only repetitions that were measured side by side count, unless there is nothing left to pair with.
Measured measured(const Matched& configuration, const record::Metric& metric, bool paired);

/// All configurations together: of each repetition that has all of them the geometric mean of the values, each as a
/// multiple of the base's median in its configuration, so that all configurations weigh the same. Those that have a
/// value that is not above 0, or none on a side, are left out. None where fewer than two remain, or no repetition has
/// them all.
std::optional<Samples> together(const std::vector<Measured>& configurations, bool paired);

}  // namespace paretopipe::compare
