#pragma once
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

}  // namespace paretopipe::testing
