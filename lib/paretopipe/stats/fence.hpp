#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace paretopipe::stats {

/// The limit above which a duration is far out: Q3 + 3 (Q3 - Q1), the outer fence of Tukey, "Exploratory Data Analysis"
/// (1977). Never less than 2 % above Q3, because a small difference does not count if all durations are nearly the
/// same. None for fewer than four durations.
std::optional<double> outer_fence_ns(std::span<const std::int64_t> durations_ns);

}  // namespace paretopipe::stats
