#pragma once
#include <paretopipe/frontier/frontier.hpp>
#include <paretopipe/report/objective.hpp>

#include <vector>

namespace paretopipe::report {

/// Converts the objective's direction to that of frontier/.
inline frontier::Sense sense_of(const Objective& objective) {
  return objective.direction == record::Direction::min ? frontier::Sense::minimise : frontier::Sense::maximise;
}

inline std::vector<frontier::Sense> senses_of(const std::vector<Objective>& objectives) {
  std::vector<frontier::Sense> senses;
  for (const auto& objective : objectives) senses.push_back(sense_of(objective));
  return senses;
}

}  // namespace paretopipe::report
