#include <paretopipe/compare/judge.hpp>

#include <cmath>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::compare;
using Values = std::vector<double>;

namespace {

const record::Metric& kThroughput = record::find_metric("throughput");
const record::Metric& kLatency = record::find_metric("latency_p95");

Change judged(const record::Metric& metric, const Values& base, const Values& now, bool all_failed = false) {
  return judge(metric, base, now, all_failed, 1);
}

Outcome outcome(const char* rule, const Values& base, const Values& now, bool all_failed = false) {
  const auto parsed = parse_rule(rule);
  return apply(parsed, judged(*parsed.metric, base, now, all_failed));
}

Values times(Values values, double factor) {
  for (auto& value : values) value *= factor;
  return values;
}

const Values kBase{100, 101, 102, 103, 104};

}  // namespace

TEST_CASE("a change beyond noise is better or worse by the metric's direction") {
  CHECK(judged(kThroughput, kBase, times(kBase, 1.2)).verdict == Verdict::better);
  CHECK(judged(kThroughput, kBase, times(kBase, 0.8)).verdict == Verdict::worse);
  CHECK(judged(kLatency, kBase, times(kBase, 1.2)).verdict == Verdict::worse);
  CHECK(judged(kLatency, kBase, times(kBase, 0.8)).verdict == Verdict::better);
}

TEST_CASE("what was measured is kept: medians, ratio, interval, test and effect") {
  const auto change = judged(kLatency, kBase, times(kBase, 1.5));
  CHECK(change.base_median == 102.0);
  CHECK(change.new_median == 153.0);
  CHECK(change.ratio == 1.5);
  REQUIRE(change.interval.has_value());
  CHECK(change.interval->low <= 1.5);
  CHECK(change.interval->high >= 1.5);
  CHECK(change.test->u == 25);
  CHECK(change.test->p_value == Approx(2.0 / 252));
  CHECK(change.cliffs_delta == 1.0);
}

TEST_CASE("values that overlap as noise does are no change") {
  CHECK(judged(kLatency, kBase, {99, 101.5, 102.5, 103.5, 100.5}).verdict == Verdict::no_change);
  CHECK(judged(kLatency, kBase, kBase).verdict == Verdict::no_change);
  CHECK(judged(kLatency, {5, 5, 5, 5}, {5, 5, 5, 5}).verdict == Verdict::no_change);
}

TEST_CASE("a median that moved far among scattered repetitions is no change beyond noise") {
  const auto change = judged(kLatency, {100, 180, 90, 200, 110}, {150, 95, 190, 105, 210});
  CHECK(*change.ratio > 1.3);
  CHECK(change.verdict == Verdict::no_change);
}

TEST_CASE("a significant rank test alone does not make a change: the interval must exclude 1") {
  // Ranks tend upwards, and half of the values have not moved at all.
  const Values base{10, 10, 10, 10, 10, 10, 10, 10, 10, 10};
  const Values now{10, 10, 10, 10, 10, 10.5, 11, 11, 11, 11};
  const auto change = judged(kLatency, base, now);
  CHECK(change.test->p_value < kSignificance);
  CHECK(change.interval->low <= 1);
  CHECK(change.verdict == Verdict::no_change);
}

TEST_CASE("too few repetitions decide nothing, however far they lie apart") {
  struct Size {
    std::size_t base, now;
    bool enough;
  };
  for (const auto& [base, now, enough] : std::vector<Size>{{1, 1, false},
                                                           {2, 2, false},
                                                           {3, 3, false},
                                                           {3, 4, false},
                                                           {4, 4, true},
                                                           {3, 5, true},
                                                           {2, 8, true},
                                                           {2, 7, false},
                                                           {1, 30, false},
                                                           {5, 0, false},
                                                           {0, 5, false},
                                                           {0, 0, false}}) {
    Values low(base), high(now);
    for (std::size_t i = 0; i < base; ++i) low[i] = 1 + 0.001 * static_cast<double>(i);
    for (std::size_t i = 0; i < now; ++i) high[i] = 9 + 0.001 * static_cast<double>(i);
    CAPTURE(base, now);
    CHECK(judged(kLatency, low, high).verdict == (enough ? Verdict::worse : Verdict::too_few));
    CHECK(judged(kLatency, low, low).verdict != Verdict::worse);
  }
}

TEST_CASE("a configuration of which nothing succeeds any more is lost") {
  CHECK(judged(kLatency, kBase, {}, true).verdict == Verdict::lost);
  CHECK(judged(kLatency, {1}, {}, true).verdict == Verdict::lost);
  CHECK(judged(kLatency, {}, {}, true).verdict == Verdict::too_few);  // the base had nothing to lose
  CHECK(judged(kLatency, kBase, {}, false).verdict == Verdict::too_few);
}

TEST_CASE("a rule is broken by a change that is past its threshold and beyond noise") {
  CHECK(outcome("throughput < -5%", kBase, times(kBase, 0.9)) == Outcome::broken);
  CHECK(outcome("throughput < -15%", kBase, times(kBase, 0.9)) == Outcome::held);
  CHECK(outcome("latency_p95 > +10%", kBase, times(kBase, 1.2)) == Outcome::broken);
  CHECK(outcome("latency_p95 > +30%", kBase, times(kBase, 1.2)) == Outcome::held);
  // Past the threshold, but noise:
  CHECK(outcome("latency_p95 > +10%", {100, 180, 90, 200, 110}, {150, 95, 190, 105, 210}) == Outcome::held);
  // In the other direction:
  CHECK(outcome("throughput < -5%", kBase, times(kBase, 1.5)) == Outcome::held);
  // A rule may watch the good direction as well:
  CHECK(outcome("throughput > +5%", kBase, times(kBase, 1.5)) == Outcome::broken);
}

TEST_CASE("a change of just the threshold does not break the rule") {
  const Values base{100, 100, 100, 100, 100};
  CHECK(outcome("throughput < -5%", base, {95, 95, 95, 95, 95}) == Outcome::held);
  CHECK(outcome("throughput < -5%", base, times(base, 0.9499)) == Outcome::broken);
  CHECK(outcome("latency_p95 > +10%", base, {110, 110, 110, 110, 110}) == Outcome::held);
  CHECK(outcome("latency_p95 > +10%", base, times(base, 1.1001)) == Outcome::broken);
  CHECK(outcome("latency_p95 > 0%", base, base) == Outcome::held);
  CHECK(outcome("latency_p95 > 0%", base, times(base, 1.001)) == Outcome::broken);
}

TEST_CASE("with too few repetitions a rule is undecided, and a lost configuration breaks every rule") {
  CHECK(outcome("latency_p95 > +10%", {100, 101, 102}, {900, 901, 902}) == Outcome::undecided);
  CHECK(outcome("latency_p95 > +10%", kBase, {}, true) == Outcome::broken);
  CHECK(outcome("throughput > +10%", kBase, {}, true) == Outcome::broken);
  CHECK(outcome("goodput < -10%", {}, {}) == Outcome::undecided);
}

TEST_CASE("from nothing to something is no percentage, and past every threshold of growth") {
  const Values none{0, 0, 0, 0, 0}, some{1, 2, 3, 4, 5};
  const auto change = judged(kLatency, none, some);
  CHECK_FALSE(change.ratio.has_value());
  CHECK_FALSE(change.interval.has_value());
  CHECK(change.verdict == Verdict::worse);
  CHECK(outcome("latency_p95 > +1000000%", none, some) == Outcome::broken);
  CHECK(outcome("latency_p95 < -50%", none, some) == Outcome::held);
  CHECK(outcome("latency_p95 > +5%", none, none) == Outcome::held);
  CHECK(outcome("latency_p95 < -50%", some, none) == Outcome::broken);
}
