#include <paretopipe/record/metric.hpp>
#include <paretopipe/report/speed_ups.hpp>

#include <algorithm>

namespace paretopipe::report {
namespace {

std::optional<double> ratio(const std::optional<double>& value, const std::optional<double>& baseline) {
  if (!value || !baseline || *baseline <= 0) return std::nullopt;
  return *value / *baseline;
}

template <class Predicate>
const stats::Configuration* find_measured(std::span<const stats::Configuration> group, Predicate is_it) {
  const auto found =
      std::find_if(group.begin(), group.end(), [&](const auto& one) { return is_it(one.trial) && !one.ok.empty(); });
  return found == group.end() ? nullptr : &*found;
}

}  // namespace

Baselines find_baselines(std::span<const stats::Configuration> group) {
  return {find_measured(group, [](const plan::Trial& trial) { return trial.all_local(); }),
          find_measured(group, [](const plan::Trial& trial) { return trial.data_parallel > 0; })};
}

SpeedUps speed_ups_of(const stats::Configuration& configuration, const Baselines& baselines) {
  const auto& throughput = record::find_metric("throughput");
  const auto own = configuration.median(throughput);
  SpeedUps speed_ups;
  const auto over = [&](const stats::Configuration* baseline) {
    return baseline == nullptr ? std::nullopt : ratio(own, baseline->median(throughput));
  };
  speed_ups.single = over(baselines.single);
  speed_ups.data_parallel = over(baselines.data_parallel);
  speed_ups.sequential = ratio(own, configuration.median(record::find_metric("throughput_sequential")));
  return speed_ups;
}

}  // namespace paretopipe::report
