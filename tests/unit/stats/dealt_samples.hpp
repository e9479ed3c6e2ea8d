#pragma once
#include "samples.hpp"

namespace paretopipe::testing {

/// Batches dealt out in turn at regular intervals: each computes for `compute`, and those that are not the source's own
/// travel for `there` and `back`. In nanoseconds; no batch waits for another.
struct Dealt {
  int devices = 3;
  int batches = 10;
  int warmup = 2;
  std::int64_t compute = 60'000;
  std::int64_t there = 5'000;
  std::int64_t back = 1'000;
  std::int64_t interval = 30'000;
};

inline record::PhaseSamples dealt_samples(const Dealt& dealt) {
  record::PhaseSamples samples;
  samples.warmup = dealt.warmup;
  samples.depth = dealt.devices;
  samples.devices = dealt.devices;
  samples.stages.resize(2);
  for (int batch = 0; batch < dealt.batches; ++batch) {
    const bool own = batch % dealt.devices == 0;
    const auto handed_over = batch * dealt.interval;
    for (const auto moment : kStageMoments) (samples.stages[0].*moment).push_back(handed_over);
    const auto arrived = handed_over + (own ? 0 : dealt.there);
    const auto computed = arrived + dealt.compute;
    auto& device = samples.stages[1];
    for (auto* moments : {&device.receive_begin, &device.receive_end, &device.ready, &device.compute_begin}) {
      moments->push_back(arrived);
    }
    for (auto* moments :
         {&device.compute_end, &device.encoded, &device.codec_begin, &device.send_begin, &device.send_end}) {
      moments->push_back(computed);
    }
    for (const auto moment : kResultMoments) {
      (samples.results.*moment).push_back(computed + (own ? 0 : dealt.back));
    }
  }
  return samples;
}

inline std::vector<record::LinkPayload> dealt_links(const Dealt& dealt) {
  std::vector<record::LinkPayload> links;
  for (int device = 1; device < dealt.devices; ++device) {
    links.push_back({0, device, 1536, 64});
    links.push_back({device, 0, 320, 64});
  }
  return links;
}

inline experiment::Trial make_dealt_trial(int devices, int repetition = 0) {
  auto trial = make_trial(0, repetition);
  trial.split_points.clear();
  trial.data_parallel = devices;
  trial.cpus.clear();
  for (int device = 0; device < devices; ++device) trial.cpus.push_back(std::to_string(device));
  return trial;
}

inline record::TrialRecord dealt_record(const experiment::Trial& trial, const Dealt& dealt) {
  record::TrialRecord record;
  record.trial = trial;
  record.stages.resize(static_cast<std::size_t>(dealt.devices));
  record.fidelity = record::Fidelity{};
  record.single_stream = record.offline = dealt_samples(dealt);
  record.links = dealt_links(dealt);
  return summarised(std::move(record));
}

}  // namespace paretopipe::testing
