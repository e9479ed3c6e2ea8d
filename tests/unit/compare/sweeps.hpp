#pragma once
#include <paretopipe/analysis/compare/comparison.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../stats/samples.hpp"

namespace paretopipe::testing {

using Records = std::vector<record::TrialRecord>;

/// Repetitions of one split, one ok record a value: in microseconds, how long stage 0 computes, its slowest step.
inline Records repetitions(const std::vector<std::int64_t>& compute_us, int split = 3) {
  Records records;
  for (const auto us : compute_us) {
    records.push_back(make_record(make_trial(split, static_cast<int>(records.size())),
                                  {us * 1000, 4'000'000, 3'000'000, 20'000}, 8000));
  }
  return records;
}

inline Records operator+(Records records, const Records& more) {
  records.insert(records.end(), more.begin(), more.end());
  return records;
}

/// As if each had been measured right before or after the one at the same place of the other side.
inline void put_side_by_side(Records& base, Records& now) {
  for (std::size_t i = 0; i < std::min(base.size(), now.size()); ++i) {
    const auto turn = static_cast<int>(i % 2);
    base[i].provenance.side_by_side = record::SideBySide{fmt::format("{:016x}", i), turn};
    now[i].provenance.side_by_side = record::SideBySide{fmt::format("{:016x}", i), 1 - turn};
  }
}

inline const std::vector<std::int64_t> kBefore{10'000, 10'100, 10'200, 10'300, 10'400};
inline const std::vector<std::int64_t> kEight{10'000, 10'100, 10'200, 10'300, 10'400, 10'500, 10'600, 10'700};
inline const std::vector<std::int64_t> kSlower{12'000, 12'100, 12'200, 12'300, 12'400};
inline const std::vector<std::int64_t> kAlike{10'010, 10'110, 10'190, 10'290, 10'390};

inline compare::Request request(const std::vector<std::string>& metrics, const std::vector<std::string>& rules = {}) {
  compare::Request request;
  for (const auto& name : metrics) request.metrics.push_back(&record::find_metric(name));
  for (const auto& text : rules) request.rules.push_back(compare::parse_rule(text));
  return request;
}

inline compare::Comparison comparison_of(const Records& base, const Records& now, compare::Request request) {
  return compare::compare({"base.jsonl", base}, {"new.jsonl", now}, std::move(request));
}

}  // namespace paretopipe::testing
