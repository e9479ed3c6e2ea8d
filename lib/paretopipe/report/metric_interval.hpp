#pragma once
#include <paretopipe/record/metric.hpp>
#include <paretopipe/stats/bootstrap.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace paretopipe::report {

/// The 95 % interval of a metric's median over the `chosen` records: stats::median_interval with one seed, so that the
/// same records always give the same interval. None where fewer than two of them have the number.
std::optional<stats::Interval> metric_interval(std::span<const record::TrialRecord> records,
                                               const std::vector<std::size_t>& chosen, const record::Metric& metric);

}  // namespace paretopipe::report
