#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>

#include <stdexcept>
#include <string>

#include "../stats/samples.hpp"

namespace paretopipe::testing {

/// An ok record of resnet18 (10 blocks) with just this median latency and throughput, over `network`.
inline record::TrialRecord measured(int split, int repetition, double latency_ms, double throughput,
                                    const std::string& network = "") {
  auto trial = make_trial(split, repetition);
  if (!network.empty()) {
    trial.network.name = network;
    trial.network.forward.delay = std::chrono::milliseconds(network.size());
    trial.shaping = experiment::Shaping::emulated;
  }
  auto record = make_record(trial, {5000, 4000, 3000, 2000}, 8000);
  record.summary->latency->p50_ns = latency_ms * 1e6;
  record.summary->throughput_image_per_s = throughput;
  return record;
}

inline frontier::FrontierReport report_of(const std::vector<record::TrialRecord>& records, std::uint64_t seed = 1) {
  return frontier::make_frontier_report(records, frontier::parse_objectives({}),
                                        {.constraints = {}, .reference = {}, .seed = seed});
}

inline const frontier::FrontierRow& row_of(const frontier::FrontierReport& report, int split) {
  for (const auto& row : report.groups.front().rows) {
    if (row.configuration.trial.split_points.front() == split) return row;
  }
  throw std::out_of_range("no such split");
}

}  // namespace paretopipe::testing
