#pragma once
#include <utility>
#include <vector>

#include "../stats/samples.hpp"

namespace paretopipe::testing {

/// Two splits under three loads, twice each; at the highest the first split is saturated.
inline std::vector<record::TrialRecord> under_load() {
  std::vector<record::TrialRecord> records;
  for (const double rate : {100.0, 200.0, 400.0}) {
    for (const auto& [split, capacity] : {std::pair{3, 300.0}, std::pair{10, 900.0}}) {
      for (const int repetition : {0, 1}) {
        auto trial = make_trial(split, repetition);
        trial.server = experiment::ServerLoad{rate, std::nullopt, 20};
        auto record = make_record(trial, {9'000'000, 4'000'000, 3'000'000, 20'000}, 8000);
        const bool saturated = rate > capacity;
        const double base = (saturated ? 80e6 : 20e6) + 20e6 * repetition;  // medians are 10 ms more
        auto& run = record.server.emplace().runs.emplace_back();
        run.rate_image_per_s = rate;
        run.summary = {{20, base / 4, base / 3, base / 2, base * 0.7, base * 0.8, base, base * 1.1},
                       rate,
                       saturated ? capacity : rate,
                       saturated,
                       0};
        records.push_back(std::move(record));
      }
    }
  }
  return records;
}

}  // namespace paretopipe::testing
