#include <paretopipe/stats/change.hpp>
#include <paretopipe/stats/mann_whitney.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <cmath>
#include <vector>

namespace paretopipe::stats {
namespace {

using Values = std::vector<double>;

/// Makes the draws of the second sample differ from those of the first.
constexpr std::uint64_t kOtherStream = 0x9e3779b97f4a7c15U;

Values resampled(std::span<const double> values, std::uint64_t seed) {
  const std::vector<Values> metrics{Values(values.begin(), values.end())};
  return resampled_medians(metrics, seed).front();
}

}  // namespace

std::optional<double> ratio_of_medians(std::span<const double> before, std::span<const double> now) {
  const auto old_median = median(Values(before.begin(), before.end()));
  const auto new_median = median(Values(now.begin(), now.end()));
  if (!old_median || !new_median || !(*old_median > 0)) return std::nullopt;
  const double ratio = *new_median / *old_median;
  return std::isfinite(ratio) ? std::optional(ratio) : std::nullopt;
}

std::optional<Interval> ratio_interval(std::span<const double> before, std::span<const double> now, std::uint64_t seed,
                                       double level) {
  if (before.size() < 2 || now.size() < 2) return std::nullopt;
  const auto old_medians = resampled(before, seed);
  auto ratios = resampled(now, seed ^ kOtherStream);
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (!(old_medians[i] > 0)) return std::nullopt;
    ratios[i] /= old_medians[i];
    if (!std::isfinite(ratios[i])) return std::nullopt;
  }
  return percentile_interval(ratios, level);
}

std::optional<double> cliffs_delta(std::span<const double> before, std::span<const double> now) {
  if (before.empty() || now.empty()) return std::nullopt;
  const auto pairs = static_cast<double>(before.size()) * static_cast<double>(now.size());
  return 2 * mann_whitney(before, now).u / pairs - 1;
}

}  // namespace paretopipe::stats
