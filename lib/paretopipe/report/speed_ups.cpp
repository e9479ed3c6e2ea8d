#include <paretopipe/record/metric.hpp>
#include <paretopipe/report/speed_ups.hpp>

#include <algorithm>

namespace paretopipe::report {
namespace {

std::optional<double> ratio(const std::optional<double>& value, const std::optional<double>& baseline) {
  if (!value || !baseline || *baseline <= 0) return std::nullopt;
  return *value / *baseline;
}

}  // namespace

const stats::Configuration* find_single(std::span<const stats::Configuration> group) {
  const auto found = std::find_if(group.begin(), group.end(),
                                  [](const auto& one) { return one.trial.all_local() && !one.ok.empty(); });
  return found == group.end() ? nullptr : &*found;
}

SpeedUps speed_ups_of(const stats::Configuration& configuration, const stats::Configuration* single) {
  const auto& throughput = record::find_metric("throughput");
  const auto own = configuration.median(throughput);
  SpeedUps speed_ups;
  if (single != nullptr) speed_ups.single = ratio(own, single->median(throughput));
  speed_ups.sequential = ratio(own, configuration.median(record::find_metric("throughput_sequential")));
  return speed_ups;
}

}  // namespace paretopipe::report
