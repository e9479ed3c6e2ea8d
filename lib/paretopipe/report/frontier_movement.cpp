#include "frontier_movement.hpp"

#include <paretopipe/report/format.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "frontier_words.hpp"

namespace paretopipe::report {
namespace {

std::string frontier_splits(const FrontierGroup& group, const std::string& missing_mark) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (group.rows[i].on_frontier) members.push_back(i);
  }
  return members.empty() ? missing_mark : split_list(group, members);
}

/// "20: 31.2 ms"
std::string best_split(const FrontierReport& report, const FrontierGroup& group, std::size_t objective,
                       const std::string& missing_mark) {
  if (!group.recommendation) return missing_mark;
  const auto& best = group.rows[group.recommendation->best[objective]];
  return fmt::format("{}: {}", split_number(best.configuration.trial),
                     format_value(*best.values[objective], report.objectives[objective].metric->unit));
}

std::string model_of(const FrontierReport& report, const NetworkFamily& family) {
  return report.groups[family.groups.front()].settings().model;
}

}  // namespace

std::string movement_title(const FrontierReport& report, const NetworkFamily& family) {
  const auto model = model_of(report, family);
  const auto namesakes = std::count_if(report.families.begin(), report.families.end(),
                                       [&](const auto& other) { return model_of(report, other) == model; });
  if (namesakes == 1) return fmt::format("How the frontier moves with the network: {}", model);
  auto trial = report.groups[family.groups.front()].settings();
  trial.network = {};
  trial.shaping = config::Shaping::none;
  return fmt::format("How the frontier moves with the network: {}", group_title(trial));
}

FrontierTable make_movement_table(const FrontierReport& report, const NetworkFamily& family,
                                  const std::string& missing_mark) {
  FrontierTable table{{{"network", false, 0}, {"conditions", false, 1000}, {"frontier", false, 0}}, {}};
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    const auto name = report.objectives[i].metric->name;
    table.columns.push_back({fmt::format("best {}", name), false, static_cast<int>(i)});
  }
  for (const auto index : family.groups) {
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
