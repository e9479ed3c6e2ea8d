#pragma once
#include <paretopipe/analysis/diagnosis/diagnosis.hpp>

#include "../stats/dealt_samples.hpp"
#include "simulated.hpp"

namespace paretopipe::testing {

inline std::set<std::string> ids_of(const std::vector<record::TrialRecord>& records) {
  std::set<std::string> ids;
  for (const auto& record : records) ids.insert(record.trial.id());
  return ids;
}

inline std::vector<diagnosis::GroupDiagnosis> diagnose_all(const std::vector<record::TrialRecord>& records) {
  return diagnosis::diagnose(records, ids_of(records));
}

inline record::TrialRecord with_payload(record::TrialRecord record, std::int64_t bytes) {
  record.links[0].payload_bytes = bytes;
  return summarised(std::move(record));
}

/// Two stages and the link between them; the way back takes next to nothing.
inline Pipeline two_stages(std::int64_t first_ms, std::int64_t link_ms, std::int64_t second_ms) {
  constexpr std::int64_t kMs = 1'000'000;
  return {.compute = {first_ms * kMs, second_ms * kMs},
          .link = {link_ms * kMs, kMs / 100},
          .delay = {0, 0},
          .batches = 60,
          .warmup = 10};
}

/// A sweep over a slow link: all remote and cut 2 are bound by the link, cut 5 by a stage, cut 8 by its first stage;
/// not splitting takes 20 ms.
inline std::vector<record::TrialRecord> slow_link_sweep() {
  return {with_payload(record_of(two_stages(0, 40, 20), {0}), 400'000),
          with_payload(record_of(two_stages(6, 30, 14), {2}), 320'000),
          with_payload(record_of(two_stages(9, 8, 11), {5}), 80'000),
          with_payload(record_of(two_stages(16, 4, 4), {8}), 40'000),
          record_of({.compute = {20'000'000}, .batches = 60, .warmup = 10})};
}

/// The same, and a cut 3 that failed.
inline std::vector<record::TrialRecord> sweep_with_failure(const std::string& reason = "gone") {
  auto records = slow_link_sweep();
  records.push_back(make_failure(records[1].trial, reason));
  records.back().trial.split_points = {3};
  return records;
}

/// The sweep beside data parallelism on two devices at 800 image/s; the fastest of the splits reaches 727.
inline std::vector<record::TrialRecord> sweep_with_baseline(int depth = 4) {
  auto records = slow_link_sweep();
  for (auto& record : records) record.trial.depth = depth;
  auto trial = records.front().trial;
  trial.split_points.clear();
  trial.data_parallel = 2;
  records.push_back(dealt_record(trial, {.devices = 2, .batches = 70, .warmup = 10}));
  records.back().summary->throughput_image_per_s = 800;
  return records;
}

/// Three repetitions of one cut. The link bounds two of them, and a stage the third.
inline std::vector<record::TrialRecord> disagreeing() {
  return {record_of(two_stages(6, 32, 14), {2}, 0), record_of(two_stages(6, 30, 14), {2}, 1),
          record_of(two_stages(6, 2, 34), {2}, 2)};
}

}  // namespace paretopipe::testing
