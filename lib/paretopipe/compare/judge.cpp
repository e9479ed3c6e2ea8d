#include <paretopipe/compare/judge.hpp>
#include <paretopipe/stats/change.hpp>
#include <paretopipe/stats/quantile.hpp>

namespace paretopipe::compare {
namespace {

bool is_beyond_noise(const Change& change) {
  const double step = *change.new_median - *change.base_median;
  if (step == 0 || change.test->p_value >= kSignificance || step * *change.cliffs_delta <= 0) return false;
  return !change.interval || (step > 0 ? change.interval->low > 1 : change.interval->high < 1);
}

Verdict verdict_of(const Change& change, bool all_failed) {
  if (all_failed && change.base_count > 0) return Verdict::lost;
  if (stats::smallest_p_value(change.base_count, change.new_count) >= kSignificance) return Verdict::too_few;
  if (!is_beyond_noise(change)) return Verdict::no_change;
  const bool grew = *change.new_median > *change.base_median;
  return grew == (change.metric->better == record::Direction::max) ? Verdict::better : Verdict::worse;
}

bool is_past_threshold(const Rule& rule, const Change& change) {
  if (!change.ratio) return rule.above && *change.new_median > *change.base_median;
  const double threshold = 1 + rule.percent / 100;
  return rule.above ? *change.ratio > threshold : *change.ratio < threshold;
}

}  // namespace

Change judge(const record::Metric& metric, const std::vector<double>& base, const std::vector<double>& now,
             bool all_failed, std::uint64_t seed) {
  Change change;
  change.metric = &metric;
  change.base_count = base.size();
  change.new_count = now.size();
  change.base_median = stats::median(base);
  change.new_median = stats::median(now);
  change.ratio = stats::ratio_of_medians(base, now);
  change.interval = stats::ratio_interval(base, now, seed);
  if (!base.empty() && !now.empty()) change.test = stats::mann_whitney(base, now);
  change.cliffs_delta = stats::cliffs_delta(base, now);
  change.verdict = verdict_of(change, all_failed);
  return change;
}

Outcome apply(const Rule& rule, const Change& change) {
  if (change.verdict == Verdict::lost) return Outcome::broken;
  if (change.verdict == Verdict::too_few) return Outcome::undecided;
  return change.beyond_noise() && is_past_threshold(rule, change) ? Outcome::broken : Outcome::held;
}

}  // namespace paretopipe::compare
