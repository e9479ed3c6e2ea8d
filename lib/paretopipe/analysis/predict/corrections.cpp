#include <paretopipe/analysis/predict/corrections.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::predict {

namespace {

/// What is measured as a sum of three known times, two of them with an unknown factor.
struct Row {
  double one = 0;
  double other = 0;
  double as_predicted = 0;
  double measured = 0;
};

struct Factors {
  double one = 1;
  double other = 0;

  double error(const Row& row) const {
    return (one * row.one + other * row.other + row.as_predicted) / row.measured - 1;
  }
};

/// The least spread of the rows' ratios of the two times. Below it, noise of 1 % would decide which factor is larger.
constexpr double kLeastVariation = 0.03;

/// Weighted least squares of the relative errors. `other` is at one of its limits if it would leave them, and 0 if it
/// cannot be told from `one`.
Factors weighted_factors(std::span<const Row> rows, std::span<const double> weights, double most_other) {
  double a = 0, b = 0, c = 0, y_one = 0, y_other = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double one = rows[i].one / rows[i].measured;
    const double other = rows[i].other / rows[i].measured;
    const double rest = 1 - rows[i].as_predicted / rows[i].measured;
    a += weights[i] * one * one;
    b += weights[i] * one * other;
    c += weights[i] * other * other;
    y_one += weights[i] * one * rest;
    y_other += weights[i] * other * rest;
  }
  const double determinant = a * c - b * b;
  const bool apart = determinant > kLeastVariation * kLeastVariation * a * c;
  const double other = apart ? std::clamp((a * y_other - b * y_one) / determinant, 0.0, most_other) : 0;
  const double one = a > 0 ? (y_one - other * b) / a : 1;
  return one > 0 ? Factors{one, other} : Factors{};  // links are predicted longer than all that was measured
}

/// Finds the least absolute errors, by repeated least squares weighted by the inverse of the last errors.
Factors factors_of(std::span<const Row> rows, double most_other) {
  std::vector<double> weights(rows.size(), 1);
  Factors factors;
  for (int i = 0; i < 50; ++i) {
    factors = weighted_factors(rows, weights, most_other);
    constexpr double kLeast = 1e-4;
    std::transform(rows.begin(), rows.end(), weights.begin(),
                   [&](const Row& row) { return 1 / std::max(kLeast, std::abs(factors.error(row))); });
  }
  return factors;
}

/// A quantile of Student's t.
struct StudentT {
  std::array<double, 10> few;  ///< for 1 to 10 degrees of freedom
  double normal = 0;           ///< for very many
  double slope = 0;            ///< over the inverse of their number, within 0.2 %

  double at(std::size_t degrees) const {
    return degrees <= few.size() ? few[degrees - 1] : normal + slope / static_cast<double>(degrees);
  }
};

constexpr StudentT kOneSide95{{6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812}, 1.645, 1.64};
constexpr StudentT kBothSides95{{12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}, 1.96, 2.7};

/// How many factors are fitted for each of the two numbers.
constexpr std::size_t kFittedFactors = 2;

double sum_of_squares(std::span<const double> errors) {
  return std::inner_product(errors.begin(), errors.end(), errors.begin(), 0.0);
}

/// How far further errors reach on each side that is counted, after `count` errors whose squares have this sum.
double half_width(const StudentT& student, std::size_t count, double squares) {
  if (count <= kFittedFactors) return 0;
  const auto degrees = count - kFittedFactors;
  const double share = static_cast<double>(kFittedFactors) / static_cast<double>(count);
  return student.at(degrees) * std::sqrt(squares / static_cast<double>(degrees) * (1 + share));
}

double spread_of(std::span<const double> errors) {
  return half_width(kBothSides95, errors.size(), sum_of_squares(errors));
}

/// How far 95 % of further errors reach above 0, judged by those above 0 alone. Those below are taken to be alike and
/// as many, as they are with least absolute errors.
double spread_above(std::vector<double> errors) {
  for (auto& error : errors) error = std::max(0.0, error);
  return half_width(kOneSide95, errors.size(), 2 * sum_of_squares(errors));
}

std::vector<VerifiedSplit> measured_splits(const Question& question, std::span<const record::TrialRecord> records) {
  std::vector<VerifiedSplit> splits;
  for (const auto& asked : questions_of(question, records)) {
    const auto verified = verify(asked, records).splits;
    if (same_network(asked, question) && verified.size() >= kFewestFitted) return verified;
    splits.insert(splits.end(), verified.begin(), verified.end());
  }
  if (static_cast<int>(splits.size()) >= kFewestFitted) return splits;
  throw UsageError(
      fmt::format("fit a pipeline to {} measured splits: it takes {}, of this model in {} stages with {} batches in "
                  "flight, over any network; measure them with `paretopipe sweep`",
                  splits.size(), kFewestFitted, stages_of(question), question.depth));
}

double sum_of(const std::vector<Band>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0,
                         [](double sum, const Band& time) { return sum + time.value; });
}

}  // namespace

Corrections fit(Question question, std::span<const record::TrialRecord> records) {
  question.corrections = {};
  const auto splits = measured_splits(question, records);
  std::vector<Row> latencies, periods;
  for (const auto& split : splits) {
    const auto& predicted = split.predicted;
    const double compute = sum_of(predicted.stage_ns) + sum_of(predicted.coding_ns);
    // Links are predicted as they are. The rest is fitted.
    latencies.push_back(
        {compute, static_cast<double>(predicted.link_ns.size()), sum_of(predicted.link_ns), split.latency_ns});
    const double period = question.profiles.front().model.batch * 1e9 / predicted.throughput_image_per_s.value;
    const auto kind = predicted.bottleneck.kind;
    if (kind != Bottleneck::Kind::stage && kind != Bottleneck::Kind::cpus) continue;
    periods.push_back({period, std::max(0.0, compute - period), 0,
                       question.profiles.front().model.batch * 1e9 / split.throughput_image_per_s});
  }
  constexpr double kAnyTime = 1e18;
  const auto latency = factors_of(latencies, kAnyTime);
  auto period = factors_of(periods, 1);
  if (periods.size() < kFewestFitted) period = {latency.one, 0};
  question.corrections = {.idle_pace = latency.one,
                          .busy_pace = period.one,
                          .hand_over_ns = latency.other,
                          .contention = period.one > 0 ? std::min(1.0, period.other / period.one) : 0,
                          .splits = static_cast<int>(splits.size())};
  std::vector<double> latency_errors, throughput_errors;
  for (const auto& split : measured_splits(question, records)) {
    latency_errors.push_back(split.latency_error());
    throughput_errors.push_back(split.throughput_error());
  }
  question.corrections.latency_spread = spread_of(latency_errors);
  question.corrections.throughput_spread = spread_of(throughput_errors);
  return question.corrections;
}

Margins margins_of(std::span<const VerifiedSplit> splits) {
  std::vector<double> too_long, too_low;
  for (const auto& split : splits) {
    too_long.push_back(split.latency_error());
    too_low.push_back(split.throughput_image_per_s / split.predicted.throughput_image_per_s.value - 1);
  }
  return {spread_above(std::move(too_long)), spread_above(std::move(too_low))};
}

}  // namespace paretopipe::predict
