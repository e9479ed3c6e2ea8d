#include <paretopipe/analysis/compare/judge.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paretopipe::compare {

namespace {

constexpr std::string_view kBlanks = " \t";

/// "-5%", "+10 %", "0%"
std::optional<double> parse_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text = trimmed(text.substr(0, text.size() - 1), kBlanks);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw UsageError(fmt::format("\"{}\" is not a rule: {}", text, why));
}

}  // namespace

std::string Rule::text() const {
  return fmt::format("{} {} {}{}%", metric->name, above ? '>' : '<',
                     above          ? "+"
                     : percent == 0 ? "-"
                                    : "",
                     percent == 0 ? 0 : percent);
}

Rule parse_rule(std::string_view text) {
  constexpr std::string_view form =
      "it has the form METRIC < -N% or METRIC > +N%, where N is a change of the median in percent, as in 'throughput < "
      "-5%'";
  const auto comparison = text.find_first_of("<>");
  if (comparison == std::string_view::npos) refuse(text, form);
  const auto percent = parse_percent(trimmed(text.substr(comparison + 1), kBlanks));
  if (!percent) refuse(text, form);
  const bool above = text[comparison] == '>';
  if (above ? *percent < 0 : *percent > 0) refuse(text, "no change at all would break it; use < -N% or > +N%");
  if (*percent <= -100) refuse(text, "nothing falls by more than 100 %, so it could never be broken");
  return {&record::find_metric(trimmed(text.substr(0, comparison), kBlanks)), above, *percent};
}

namespace {

int sign(double number) {
  return (number > 0) - (number < 0);
}

void measure_independent(Change& change, const Samples& samples, std::uint64_t seed) {
  const auto& base = samples.base;
  const auto& now = samples.now;
  change.ratio = stats::ratio_of_medians(base, now);
  change.interval = stats::ratio_interval(base, now, seed);
  if (base.empty() || now.empty()) return;
  change.rank_test = stats::mann_whitney(base, now);
  change.p_value = change.rank_test->p_value;
  change.effect = stats::cliffs_delta(base, now);
  const int way = sign(*change.new_median - *change.base_median);
  const bool excluded = !change.interval || (way > 0 ? change.interval->low > 1 : change.interval->high < 1);
  if (way == sign(*change.effect) && excluded) change.direction = way;
}

/// The steps from base to now of each pair: logarithms of the ratios if `ratios`, otherwise differences.
std::vector<double> steps_of(const Samples& samples, bool ratios) {
  std::vector<double> steps;
  for (std::size_t i = 0; i < samples.base.size(); ++i) {
    steps.push_back(ratios ? std::log(samples.now[i] / samples.base[i]) : samples.now[i] - samples.base[i]);
  }
  return steps;
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

void measure_pairs(Change& change, const Samples& samples) {
  if (samples.now.empty()) return;
  const bool ratios = all_positive(samples.base) && all_positive(samples.now);
  const auto steps = steps_of(samples, ratios);
  const double typical = *stats::typical_step(steps);
  if (ratios) {
    change.ratio = std::exp(typical);
    const auto interval = stats::typical_step_interval(steps);
    if (interval) change.interval = stats::Interval{std::exp(interval->low), std::exp(interval->high)};
  } else {
    change.ratio = stats::ratio_of_medians(samples.base, samples.now);
  }
  change.signed_test = stats::signed_rank(steps);
  change.p_value = change.signed_test->p_value;
  change.effect = change.signed_test->rank_biserial;
  if (sign(typical) == sign(*change.effect)) change.direction = sign(typical);
}

double smallest_p_value(bool paired, std::size_t base, std::size_t now) {
  return paired ? stats::smallest_paired_p_value(base) : stats::smallest_p_value(base, now);
}

std::size_t repetitions_needed(bool paired, double share) {
  std::size_t repetitions = 1;
  while (smallest_p_value(paired, repetitions, repetitions) >= kSignificance * share) ++repetitions;
  return repetitions;
}

/// `share` is the part of the family's significance level that this check has while no other check is rejected.
Verdict verdict_of(const Change& change, double share) {
  if (change.direction != 0 && *change.corrected_p < kSignificance) {
    const bool grew = change.direction > 0;
    return grew == (change.metric->better == record::Direction::max) ? Verdict::better : Verdict::worse;
  }
  const double smallest = smallest_p_value(change.paired, change.base_count, change.new_count);
  return smallest >= kSignificance * share ? Verdict::too_few : Verdict::no_change;
}

bool is_past_threshold(const Rule& rule, const Change& change) {
  if (!change.ratio) return rule.above && *change.new_median > *change.base_median;
  const double threshold = 1 + rule.percent / 100;
  return rule.above ? *change.ratio > threshold : *change.ratio < threshold;
}

}  // namespace

Change measure_change(const record::Metric& metric, const Samples& samples, std::uint64_t seed) {
  Change change;
  change.metric = &metric;
  change.paired = samples.paired;
  change.base_count = samples.base.size();
  change.new_count = samples.now.size();
  change.base_median = stats::median(samples.base);
  change.new_median = stats::median(samples.now);
  if (samples.paired) {
    measure_pairs(change, samples);
  } else {
    measure_independent(change, samples, seed);
  }
  if (samples.all_failed && change.base_count > 0) change.verdict = Verdict::lost;
  return change;
}

void decide(std::span<Change* const> configurations, Change* overall) {
  std::vector<Change*> family;
  std::copy_if(configurations.begin(), configurations.end(), std::back_inserter(family),
               [](const Change* change) { return change->p_value.has_value(); });
  std::vector<double> weights(family.size(), 1);
  if (overall != nullptr && overall->p_value) {
    weights.push_back(std::max(1.0, static_cast<double>(family.size())));
    family.push_back(overall);
  }
  std::vector<double> p_values;
  for (const auto* change : family) p_values.push_back(*change->p_value);
  const auto corrected = holm_corrected(p_values, weights);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < family.size(); ++i) {
    auto& change = *family[i];
    change.corrected_p = corrected[i];
    change.checks = family.size();
    change.repetitions_needed = repetitions_needed(change.paired, weights[i] / total);
    change.verdict = verdict_of(change, weights[i] / total);
  }
}

std::vector<double> holm_corrected(std::span<const double> p_values, std::span<const double> weights) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return p_values[left] / weights[left] < p_values[right] / weights[right];
  });
  std::vector<double> corrected(p_values.size());
  double remaining = std::accumulate(weights.begin(), weights.end(), 0.0);
  double largest = 0;
  for (const auto i : order) {
    largest = std::max(largest, p_values[i] * remaining / weights[i]);
    corrected[i] = std::min(1.0, largest);
    remaining -= weights[i];
  }
  return corrected;
}

Outcome apply(const Rule& rule, const Change& change) {
  if (change.verdict == Verdict::lost) return Outcome::broken;
  if (change.verdict == Verdict::too_few) return Outcome::undecided;
  return change.beyond_noise() && is_past_threshold(rule, change) ? Outcome::broken : Outcome::held;
}

}  // namespace paretopipe::compare
