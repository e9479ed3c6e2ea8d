#pragma once
#include <utility>
#include <vector>

#include "../stats/samples.hpp"

namespace paretopipe::testing {

/// A small sweep with everything that a report must show: both endpoints, a trade, dominated splits, a split that
/// failed once, one that failed always, and a second group.
inline std::vector<record::TrialRecord> sweep() {
  const auto record = [](int split, int repetition, std::int64_t local, std::int64_t transfer, std::int64_t remote,
                         std::int64_t bytes) {
    return make_record(make_trial(split, repetition), {local, transfer, remote, 20'000}, bytes);
  };
  auto other_batch = make_trial(7);
  other_batch.batch = 1;
  return {record(0, 0, 0, 30'000'000, 9'000'000, 4'816'896),
          record(0, 1, 0, 31'000'000, 9'100'000, 4'816'896),
          record(3, 0, 6'000'000, 12'000'000, 7'000'000, 3'211'264),
          make_failure(make_trial(3, 1), "the connection was reset, and \"nobody\" | answered"),
          record(5, 0, 14'000'000, 5'000'000, 6'000'000, 1'605'632),
          record(5, 1, 14'500'000, 5'100'000, 6'100'000, 1'605'632),
          make_failure(make_trial(6, 0), "killed by signal 9"),
          make_failure(make_trial(6, 1), "killed by signal 9"),
          record(7, 0, 16'000'000, 2'000'000, 2'500'000, 802'816),
          record(7, 1, 16'400'000, 2'000'000, 2'600'000, 802'816),
          record(10, 0, 18'000'000, 0, 0, 0),
          record(10, 1, 18'200'000, 0, 0, 0),
          make_record(other_batch, {2'000'000, 300'000, 400'000, 20'000}, 100'352)};
}

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
