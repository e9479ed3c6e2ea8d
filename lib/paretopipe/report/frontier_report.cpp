#include <paretopipe/frontier/frontier.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/frontier_report.hpp>

#include <algorithm>

namespace paretopipe::report {
namespace {

std::vector<std::string> distinct_reasons(std::span<const record::TrialRecord> records,
                                          const std::vector<std::size_t>& chosen) {
  std::vector<std::string> reasons;
  for (const auto index : chosen) {
    const auto& failure = records[index].failure;
    auto reason = failure ? describe(*failure) : "no reason was recorded";
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(std::move(reason));
  }
  return reasons;
}

void mark_frontier(FrontierGroup& group, const std::vector<Objective>& objectives) {
  std::vector<frontier::Sense> senses;
  for (const auto& objective : objectives) {
    const bool less = objective.direction == record::Direction::min;
    senses.push_back(less ? frontier::Sense::minimise : frontier::Sense::maximise);
  }
  frontier::Points points(std::move(senses));
  for (const auto& row : group.rows) points.add(row.values);

  const auto found = frontier::find_frontier(points);
  for (const auto member : found.members) group.rows[member].on_frontier = true;
  for (std::size_t i = 0; i < group.rows.size(); ++i) group.rows[i].dominated_by = found.dominator[i];
}

}  // namespace

bool FrontierRow::complete() const {
  return std::find(values.begin(), values.end(), std::nullopt) == values.end();
}

FrontierReport make_frontier_report(std::span<const record::TrialRecord> records, std::vector<Objective> objectives) {
  FrontierReport report{std::move(objectives), {}};
  const auto& payload = record::find_metric("payload");
  for (auto& measured : stats::aggregate(records)) {
    auto& group = report.groups.emplace_back();
    for (auto& configuration : measured.configurations) {
      FrontierRow row;
      for (const auto& objective : report.objectives) row.values.push_back(configuration.median(*objective.metric));
      row.payload_bytes = configuration.median(payload);
      row.failures = distinct_reasons(records, configuration.failed);
      row.deviations = distinct_reasons(records, configuration.invalid);
      row.configuration = std::move(configuration);
      group.rows.push_back(std::move(row));
    }
    mark_frontier(group, report.objectives);
  }
  return report;
}

}  // namespace paretopipe::report
