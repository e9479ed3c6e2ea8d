#include <paretopipe/report/metric_interval.hpp>

namespace paretopipe::report {

std::optional<stats::Interval> metric_interval(std::span<const record::TrialRecord> records,
                                               const std::vector<std::size_t>& chosen, const record::Metric& metric) {
  std::vector<double> values;
  for (const auto index : chosen) {
    if (const auto value = metric.value(records[index])) values.push_back(*value);
  }
  constexpr std::uint64_t kSeed = 1;
  return stats::median_interval(values, kSeed);
}

}  // namespace paretopipe::report
