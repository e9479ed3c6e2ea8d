#include <paretopipe/analysis/frontier/objective.hpp>

#include <algorithm>
#include <map>
#include <span>

#include "report_parts.hpp"

namespace paretopipe::frontier {

namespace {

using Regrets = std::vector<std::vector<double>>;  ///< [case][option]

std::vector<std::size_t> compared_rows(const FrontierGroup& group) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < group.rows.size(); ++row) {
    if (group.rows[row].compared()) rows.push_back(row);
  }
  return rows;
}

/// [objective][position in `rows`]
Regrets regrets_of(const FrontierGroup& group, const std::vector<std::size_t>& rows,
                   const std::vector<Objective>& objectives) {
  Regrets regrets;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    std::vector<double> values;
    for (const auto row : rows) values.push_back(*group.rows[row].values[i]);
    regrets.push_back(relative_regret(sense_of(objectives[i]), values));
  }
  return regrets;
}

/// The row of the frontier with the lowest cost in an objective. The row with the lowest cost is always on the
/// frontier.
std::size_t best_row(const std::vector<std::size_t>& members, const Points& points, std::size_t objective) {
  return *std::min_element(members.begin(), members.end(), [&](std::size_t left, std::size_t right) {
    return points.costs(left)[objective] < points.costs(right)[objective];
  });
}

/// The rows with the same cut, if compared in every group of the family.
std::vector<std::vector<std::size_t>> common_rows(const FrontierReport& report,
                                                  const std::vector<std::size_t>& family) {
  std::map<experiment::Cut, std::vector<std::size_t>> found;
  for (const auto index : family) {
    const auto& group = report.groups[index];
    for (const auto row : compared_rows(group)) found[group.rows[row].configuration.trial.cut()].push_back(row);
  }
  std::vector<std::vector<std::size_t>> common;
  for (auto& [split, rows] : found) {
    if (rows.size() == family.size()) common.push_back(std::move(rows));
  }
  return common;
}

/// [network and objective][candidate]: relative to the best of all rows compared over that network, candidates or not.
Regrets regrets_over_networks(const FrontierReport& report, const NetworkFamily& family) {
  Regrets regrets;
  for (std::size_t i = 0; i < family.groups.size(); ++i) {
    const auto& group = report.groups[family.groups[i]];
    const auto rows = compared_rows(group);
    for (const auto& of_rows : regrets_of(group, rows, report.objectives)) {
      auto& of_candidates = regrets.emplace_back();
      for (const auto& candidate : family.candidates) {
        const auto place = std::lower_bound(rows.begin(), rows.end(), candidate.rows[i]) - rows.begin();
        of_candidates.push_back(of_rows[static_cast<std::size_t>(place)]);
      }
    }
  }
  return regrets;
}

void find_robust(const FrontierReport& report, NetworkFamily& family) {
  for (auto& rows : common_rows(report, family.groups)) family.candidates.push_back({std::move(rows), 0, 0, 0});
  const auto regrets = regrets_over_networks(report, family);
  for (std::size_t candidate = 0; candidate < family.candidates.size(); ++candidate) {
    auto& [rows, worst, group, objective] = family.candidates[candidate];
    for (std::size_t i = 0; i < regrets.size(); ++i) {
      if (regrets[i][candidate] <= worst) continue;
      worst = regrets[i][candidate];
      group = i / report.objectives.size();
      objective = i % report.objectives.size();
    }
  }
  if (const auto choice = least_worst(regrets)) family.robust = choice->option;
}

/// The least bad row of the other kind; `regrets` are those of `rows`.
std::optional<std::size_t> alternative_to(const FrontierGroup& group, std::size_t chosen,
                                          std::span<const std::size_t> rows,
                                          std::span<const std::vector<double>> regrets) {
  const auto is_endpoint = [&](std::size_t row) { return group.rows[row].is_endpoint(); };
  std::vector<std::size_t> others;
  std::vector<std::vector<double>> of_others(regrets.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_endpoint(rows[i]) == is_endpoint(chosen)) continue;
    others.push_back(rows[i]);
    for (std::size_t objective = 0; objective < regrets.size(); ++objective) {
      of_others[objective].push_back(regrets[objective][i]);
    }
  }
  const auto choice = least_worst(of_others);
  return choice ? std::optional(others[choice->option]) : std::nullopt;
}

/// The common identity of groups that differ only in their network.
std::string family_id(const FrontierGroup& group) {
  auto trial = group.settings().without_split();
  trial.network = {};
  return trial.id();
}

}  // namespace

std::optional<Recommendation> recommend(const FrontierGroup& group, const Points& points,
                                        const std::vector<Objective>& objectives) {
  const auto rows = compared_rows(group);
  if (rows.empty()) return std::nullopt;
  std::vector<std::size_t> members;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(members),
               [&](std::size_t row) { return group.rows[row].on_frontier; });

  Recommendation recommendation;
  for (std::size_t i = 0; i < objectives.size(); ++i) recommendation.best.push_back(best_row(members, points, i));
  const auto regrets = regrets_of(group, rows, objectives);
  recommendation.balanced = *least_worst(regrets);
  recommendation.balanced.option = rows[recommendation.balanced.option];
  recommendation.alternative = alternative_to(group, recommendation.balanced.option, rows, regrets);
  recommendation.knee = find_knee(points, members);
  return recommendation;
}

std::vector<NetworkFamily> make_families(const FrontierReport& report) {
  std::vector<NetworkFamily> families;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    const auto [place, added] = places.try_emplace(family_id(report.groups[i]), families.size());
    if (added) families.emplace_back();
    families[place->second].groups.push_back(i);
  }
  std::erase_if(families, [](const NetworkFamily& family) { return family.groups.size() < 2; });
  for (auto& family : families) find_robust(report, family);
  return families;
}

}  // namespace paretopipe::frontier
