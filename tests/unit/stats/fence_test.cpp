#include <paretopipe/analysis/stats/quantile.hpp>

#include <vector>

#include <support/catch.hpp>

using paretopipe::stats::outer_fence_ns;

TEST_CASE("the outer fence is three interquartile ranges above the upper quartile", "[fence]") {
  const std::vector<std::int64_t> durations{500, 100, 400, 200, 300};  // quartiles 200 and 400
  CHECK(*outer_fence_ns(durations) == Approx(1000));
}

TEST_CASE("where durations hardly differ, a difference under 2 % is none", "[fence]") {
  CHECK(*outer_fence_ns(std::vector<std::int64_t>{1000, 1000, 1000, 1000}) == Approx(1020));
}

TEST_CASE("of fewer than four durations no fence is known", "[fence]") {
  CHECK_FALSE(outer_fence_ns(std::vector<std::int64_t>{}).has_value());
  CHECK_FALSE(outer_fence_ns(std::vector<std::int64_t>{1, 2, 3}).has_value());
}
