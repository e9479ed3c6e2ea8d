#include "frontier_movement.hpp"

#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::report {
namespace {

std::string frontier_splits(const FrontierGroup& group, const std::string& missing_mark) {
  std::vector<std::string> splits;
  for (const auto& row : group.rows) {
    if (row.on_frontier) splits.push_back(split_number(row.configuration.trial));
  }
  return splits.empty() ? missing_mark : fmt::format("{}", fmt::join(splits, ", "));
}

/// "20: 31.2 ms"
std::string best_split(const FrontierReport& report, const FrontierGroup& group, std::size_t objective,
                       const std::string& missing_mark) {
  const auto& [metric, direction] = report.objectives[objective];
  const FrontierRow* best = nullptr;
  for (const auto& row : group.rows) {
    const auto& value = row.values[objective];
    if (!value) continue;
    const bool better = best == nullptr || (direction == record::Direction::min ? *value < *best->values[objective]
                                                                                : *value > *best->values[objective]);
    if (better) best = &row;
  }
  if (best == nullptr) return missing_mark;
  return fmt::format("{}: {}", split_number(best->configuration.trial),
                     format_value(*best->values[objective], metric->unit));
}

}  // namespace

std::vector<std::vector<std::size_t>> network_families(const FrontierReport& report) {
  std::vector<std::vector<std::size_t>> families;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    auto trial = report.groups[i].settings();
    trial.network = {};
    trial.repetition = 0;
    std::fill(trial.split_points.begin(), trial.split_points.end(), 0);
    const auto [place, added] = places.try_emplace(trial.id(), families.size());
    if (added) families.emplace_back();
    families[place->second].push_back(i);
  }
  std::erase_if(families, [](const auto& family) { return family.size() < 2; });
  return families;
}

FrontierTable make_movement_table(const FrontierReport& report, const std::vector<std::size_t>& family,
                                  const std::string& missing_mark) {
  FrontierTable table{{"network", "conditions", "frontier"}, {false, false, false}, {}};
  for (const auto& objective : report.objectives) {
    table.headings.push_back(fmt::format("best {}", objective.metric->name));
    table.numeric.push_back(false);
  }
  for (const auto index : family) {
    const auto& group = report.groups[index];
    const auto& network = group.settings().network;
    std::vector<std::string> cells{printable(network.name), describe(network), frontier_splits(group, missing_mark)};
    for (std::size_t i = 0; i < report.objectives.size(); ++i) {
      cells.push_back(best_split(report, group, i, missing_mark));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace paretopipe::report
