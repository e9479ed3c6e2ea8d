#include <paretopipe/analysis/compare/judge.hpp>
#include <paretopipe/core/error.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::compare;
using support::contains;
using Values = std::vector<double>;

namespace {

const record::Metric& kThroughput = record::find_metric("throughput");
const record::Metric& kLatency = record::find_metric("latency_p95");

/// A single check, which nothing corrects.
Change judged(const record::Metric& metric, const Samples& samples) {
  auto change = measure_change(metric, samples, 1);
  const std::vector<Change*> family{&change};
  decide(family, nullptr);
  return change;
}

Change judged(const record::Metric& metric, const Values& base, const Values& now, bool all_failed = false) {
  return judged(metric, {base, now, false, all_failed});
}

Change judged_in_pairs(const record::Metric& metric, const Values& base, const Values& now) {
  return judged(metric, {base, now, true, false});
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
  CHECK(change.rank_test->u == 25);
  CHECK(*change.p_value == Approx(2.0 / 252));
  CHECK(*change.corrected_p == *change.p_value);
  CHECK(change.effect == 1.0);
  CHECK_FALSE(change.signed_test.has_value());
}

TEST_CASE("values that overlap as noise does are no change") {
  CHECK(judged(kLatency, kBase, {99, 101.5, 102.5, 103.5, 100.5}).verdict == Verdict::no_change);
  CHECK(judged(kLatency, kBase, kBase).verdict == Verdict::no_change);
  CHECK(judged(kLatency, {5, 5, 5, 5}, {5, 5, 5, 5}).verdict == Verdict::no_change);
  const auto scattered = judged(kLatency, {100, 180, 90, 200, 110}, {150, 95, 190, 105, 210});
  CHECK(*scattered.ratio > 1.3);  // the median moved far
  CHECK(scattered.verdict == Verdict::no_change);
}

TEST_CASE("a significant rank test alone does not make a change: the interval must exclude 1") {
  // Ranks tend upwards, and half of the values have not moved at all.
  const Values base{10, 10, 10, 10, 10, 10, 10, 10, 10, 10};
  const Values now{10, 10, 10, 10, 10, 10.5, 11, 11, 11, 11};
  const auto change = judged(kLatency, base, now);
  CHECK(*change.p_value < kSignificance);
  CHECK(change.interval->low <= 1);
  CHECK(change.verdict == Verdict::no_change);
}

TEST_CASE("too few repetitions decide nothing, however far they lie apart") {
  struct Size {
    std::size_t base, now;
    bool enough;
  };
  const std::vector<Size> sizes{{1, 1, false},  {2, 2, false}, {3, 3, false}, {3, 4, false},
                                {4, 4, true},   {3, 5, true},  {2, 8, true},  {2, 7, false},
                                {1, 30, false}, {5, 0, false}, {0, 5, false}, {0, 0, false}};
  for (const auto& [base, now, enough] : sizes) {
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
  const Values flat{100, 100, 100, 100, 100};
  struct Case {
    const char* rule;
    Values base, now;
    Outcome outcome;
  };
  for (const auto& [rule, base, now, expected] :
       {Case{"throughput < -5%", kBase, times(kBase, 0.9), Outcome::broken},
        Case{"throughput < -15%", kBase, times(kBase, 0.9), Outcome::held},
        Case{"latency_p95 > +10%", kBase, times(kBase, 1.2), Outcome::broken},
        Case{"latency_p95 > +30%", kBase, times(kBase, 1.2), Outcome::held},
        // Past the threshold, but noise; in the other direction; a rule may watch the good direction as well.
        Case{"latency_p95 > +10%", {100, 180, 90, 200, 110}, {150, 95, 190, 105, 210}, Outcome::held},
        Case{"throughput < -5%", kBase, times(kBase, 1.5), Outcome::held},
        Case{"throughput > +5%", kBase, times(kBase, 1.5), Outcome::broken},
        // A change of just the threshold does not break the rule.
        Case{"throughput < -5%", flat, {95, 95, 95, 95, 95}, Outcome::held},
        Case{"throughput < -5%", flat, times(flat, 0.9499), Outcome::broken},
        Case{"latency_p95 > +10%", flat, {110, 110, 110, 110, 110}, Outcome::held},
        Case{"latency_p95 > +10%", flat, times(flat, 1.1001), Outcome::broken},
        Case{"latency_p95 > 0%", flat, flat, Outcome::held},
        Case{"latency_p95 > 0%", flat, times(flat, 1.001), Outcome::broken}}) {
    CAPTURE(rule, now);
    CHECK(outcome(rule, base, now) == expected);
  }
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

TEST_CASE("pairs show a change that drifts hide from two separate sweeps") {
  // A machine that becomes half as fast again over the sweep, and a program that is 5 % slower.
  const Values base{100, 108, 117, 127, 136, 144, 151};
  const auto now = times(base, 1.05);
  CHECK(judged(kLatency, base, now).verdict == Verdict::no_change);
  const auto change = judged_in_pairs(kLatency, base, now);
  CHECK(change.verdict == Verdict::worse);
  CHECK(*change.ratio == Approx(1.05));
  CHECK(change.interval->low == Approx(1.05));
  CHECK(*change.p_value == Approx(2.0 / 128));
  CHECK(change.effect == 1.0);
  CHECK_FALSE(change.rank_test.has_value());
}

TEST_CASE("pairs that go both ways are no change, however many they are and far they go") {
  const Values base{100, 100, 100, 100, 100, 100, 100, 100};
  CHECK(judged_in_pairs(kLatency, base, {140, 60, 150, 55, 130, 70, 145, 58}).verdict == Verdict::no_change);
  CHECK(judged_in_pairs(kLatency, base, base).verdict == Verdict::no_change);
  CHECK(judged_in_pairs(kLatency, base, base).ratio == 1.0);
}

TEST_CASE("five pairs decide nothing, six do; and where a value is 0 differences stand for ratios") {
  const Values six{100, 101, 102, 103, 104, 105};
  CHECK(judged_in_pairs(kLatency, kBase, times(kBase, 9)).verdict == Verdict::too_few);
  CHECK(judged_in_pairs(kLatency, kBase, times(kBase, 9)).repetitions_needed == 6);
  CHECK(judged_in_pairs(kLatency, six, times(six, 9)).verdict == Verdict::worse);
  CHECK(judged_in_pairs(kThroughput, six, times(six, 9)).verdict == Verdict::better);
  const auto from_nothing = judged_in_pairs(kLatency, {0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6});
  CHECK(from_nothing.verdict == Verdict::worse);
  CHECK_FALSE(from_nothing.ratio.has_value());
  CHECK(apply(parse_rule("latency_p95 > +5%"), from_nothing) == Outcome::broken);
  const auto to_nothing = judged_in_pairs(kThroughput, six, times(six, 0));
  CHECK(to_nothing.verdict == Verdict::worse);
  CHECK(to_nothing.ratio == 0.0);
  CHECK(apply(parse_rule("throughput < -5%"), to_nothing) == Outcome::broken);
}

TEST_CASE("Holm's procedure compares the smallest p with a share of the significance, and the next with more") {
  const auto corrected = [](const Values& p_values, const Values& weights) {
    return holm_corrected(p_values, weights);
  };
  CHECK(corrected({0.02}, {1}) == Values{0.02});
  // 0.01 · 4, 0.02 · 3, the larger of 0.03 · 2 and what stands before it, and so on.
  CHECK(corrected({0.03, 0.01, 0.9, 0.02}, {1, 1, 1, 1}) == Values{0.06, 0.04, 0.9, 0.06});
  // Weights 2, 1 and 1: 0.02 · 4 / 2, then 0.018 · 2 / 1, which is less than what stands before it.
  const auto weighted = corrected({0.02, 0.018, 0.6}, {2, 1, 1});
  CHECK(weighted[0] == Approx(0.04));
  CHECK(weighted[1] == Approx(0.04));
  CHECK(weighted[2] == Approx(0.6));
  CHECK(corrected({0.7, 0.8}, {1, 1}) == Values{1, 1});
}

TEST_CASE("as many checks as are made need as many repetitions more") {
  const auto decided = [](std::size_t checks, const Values& now) {
    std::vector<Change> changes(checks, measure_change(kLatency, {kBase, now, false, false}, 1));
    std::vector<Change*> family;
    for (auto& change : changes) family.push_back(&change);
    decide(family, nullptr);
    return changes.front();
  };
  CHECK(decided(6, times(kBase, 2)).verdict == Verdict::worse);  // 6 · 2 / 252 is 0.048
  const auto seven = decided(7, times(kBase, 2));
  CHECK(seven.verdict == Verdict::too_few);
  CHECK(seven.checks == 7);
  CHECK(seven.repetitions_needed == 6);
  CHECK(decided(6, kBase).verdict == Verdict::no_change);
  CHECK(decided(7, kBase).verdict == Verdict::too_few);
}

TEST_CASE("the check of all together weighs as much as the others, which have the more once it is rejected") {
  const auto decided = [](double all_factor) {
    std::vector<Change> changes(4, measure_change(kLatency, {kBase, times(kBase, 2), false, false}, 1));
    auto all = measure_change(kLatency, {kBase, times(kBase, all_factor), false, false}, 1);
    std::vector<Change*> family;
    for (auto& change : changes) family.push_back(&change);
    decide(family, &all);
    return std::pair(changes.front().verdict, all.verdict);
  };
  // 8 · 2 / 252 is too much, 4 · 2 / 252 is not.
  CHECK(decided(1) == std::pair(Verdict::too_few, Verdict::no_change));
  CHECK(decided(2) == std::pair(Verdict::worse, Verdict::worse));
}

TEST_CASE("a rule names a metric, a side and a percentage, with blanks or without") {
  for (const auto* text : {"throughput < -5%", "throughput<-5%", "  throughput\t<  -5 %  ", "throughput < -5.0%"}) {
    CAPTURE(text);
    CHECK(parse_rule(text) == compare::Rule{&kThroughput, false, -5});
    CHECK(parse_rule(text).text() == "throughput < -5%");
  }
  for (const auto* text : {"latency_p95 > +10.5%", "latency_p95 > 10.5%"}) {
    CHECK(parse_rule(text) == compare::Rule{&kLatency, true, 10.5});
    CHECK(parse_rule(text).text() == "latency_p95 > +10.5%");
  }
}

TEST_CASE("any change beyond noise in one direction is a rule too") {
  CHECK(parse_rule("throughput < 0%").text() == "throughput < -0%");
  CHECK(parse_rule("throughput < -0%").text() == "throughput < -0%");
  CHECK(parse_rule("latency_p50 > 0%").text() == "latency_p50 > +0%");
}

TEST_CASE("what is not a rule is refused with the form that it should have") {
  for (const std::string text :
       {"", "throughput", "throughput -5%", "throughput < -5", "throughput < %", "throughput <= -5%",
        "throughput < -5%%", "throughput < five%", "throughput < -5% or so", "throughput < nan%", "throughput < -inf%",
        "throughput > 1e999%", "throughput > +-5%", "throughput > ++5%", "latency_p95 > 80ms", "throughput = -5%",
        "latency_p95 > 0x10%"}) {
    CAPTURE(text);
    const auto complaint = support::message_of<UsageError>([&] { parse_rule(text); });
    CHECK(contains(complaint, "\"" + text + "\" is not a rule"));
    CHECK(contains(complaint, "METRIC < -N%"));
  }
}

TEST_CASE("a rule that no change at all would break, and one that nothing can break, are refused") {
  const auto complaint = [](const char* text) { return support::message_of<UsageError>([&] { parse_rule(text); }); };
  CHECK(contains(complaint("throughput > -5%"), "no change at all"));
  CHECK(contains(complaint("throughput < 5%"), "no change at all"));
  CHECK(contains(complaint("throughput < -100%"), "never"));
  CHECK(contains(complaint("throughput < -99.9%"), "(nothing was thrown)"));
}

TEST_CASE("an unknown metric is refused with the one that was probably meant") {
  const auto complaint = support::message_of<UsageError>([] { parse_rule("troughput < -5%"); });
  CHECK(contains(complaint, "did you mean \"throughput\""));
  CHECK(contains(support::message_of<UsageError>([] { parse_rule("< -5%"); }), "is not a metric"));
}
