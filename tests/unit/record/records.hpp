#pragma once
#include <paretopipe/record/record.hpp>

#include <string>

/// Records made up for tests. Values are all different, so that two fields that are mixed up show.
namespace paretopipe::testing {

inline experiment::Trial a_trial(int repetition = 0) {
  experiment::Trial trial{{.model = "resnet18",
                           .num_classes = 10,
                           .batch = 8,
                           .seed = 18446744073709551615U,
                           .data = "random",
                           .threads_per_stage = 2,
                           .cpus = {"0-1", "2,3"},
                           .tuning = {.flush_denormals = true, .tune_malloc = false, .passive_openmp_wait = true}}};
  trial.block_count = 12;
  trial.split_points = {5};
  trial.batches = 2;
  trial.warmup = 1;
  trial.depth = 4;
  trial.repetition = repetition;
  return trial;
}

inline record::StageReport a_stage(int stage) {
  record::StageReport report;
  report.host = {"host", "boot", "", "Linux 6.1", "Debian", "x86_64", "Some CPU", 4, 8'000'000'000, "performance"};
  report.state = {0.25 + stage, 4'000'000'000 + stage, 2'400'000'000};
  report.compute = {{"library", "LibTorch"}, {"threads", 2}, {"blas", {{"name", "OpenBLAS"}}}};
  report.cpus = stage == 0 ? "0-1" : "2-3";
  report.blocks = stage == 0 ? experiment::BlockRange{0, 5} : experiment::BlockRange{5, 12};
  report.parameter_bytes = 1000 + stage;
  report.held_parameter_bytes = 2000 + stage;
  report.peak_rss_bytes = 300'000'000 + stage;
  report.usage = {11, 12, 13, 14, 15, 16 + stage};
  return report;
}

inline record::PhaseSamples a_phase(int depth) {
  record::PhaseSamples samples;
  samples.warmup = 1;
  samples.depth = depth;
  samples.stages.resize(2);
  std::int64_t moment = depth * 1000;
  const auto next = [&] { return std::vector<std::int64_t>{moment++, moment++, moment++}; };
  for (auto& stage : samples.stages) {
    for (const auto member : kStageMoments) {
      if (member != &StageTimeline::codec_begin) stage.*member = next();
    }
    stage.codec_begin = stage.send_begin;
  }
  for (const auto member : kResultMoments) samples.results.*member = next();
  return samples;
}

inline record::Summary a_summary() {
  record::Summary summary;
  summary.latency = {2, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5};
  summary.throughput_image_per_s = 1e9 / 3;
  summary.latency_under_load = {2, 11, 12, 13, 14, 15, 16, 17};
  summary.breakdown = {{record::Part::compute, 0, 21, 22}, {record::Part::transfer, 1, 23, 24}};
  summary.links = {{0, 1, 31, 32, 33}, {1, 0, 34, 35, 36}};
  summary.stages = {{41, 0.75, 0.25}, {42, 0.5, 0.5}};
  return summary;
}

/// With everything that a record can have.
inline record::TrialRecord ok_record(int repetition = 0) {
  record::TrialRecord record;
  record.trial = a_trial(repetition);
  record.provenance = {"0.1.0", "abcdef-dirty", {"paretopipe", "sweep", "--out", "x y"}, "2026-01-01T00:00:00Z"};
  record.stages = {a_stage(0), a_stage(1)};
  record.clocks = {{}, {false, -51, -52, 53}};
  record.links = {{0, 1, 8000, 64}, {1, 0, 320, 65}};
  record.single_stream = a_phase(1);
  record.offline = a_phase(4);
  record.fidelity = record::Fidelity{0, 1, 6};
  record.summary = a_summary();
  return record;
}

/// With as little as a record can have.
inline record::TrialRecord failed_record(int repetition = 0) {
  record::TrialRecord record;
  record.trial = a_trial(repetition);
  record.status = record::Status::failed;
  record.failure = record::Failure{"launch", std::nullopt, "no such program"};
  return record;
}

inline std::string line_of(const record::TrialRecord& record) {
  return nlohmann::json(record).dump() + "\n";
}

/// The record as a store keeps it, which numbers its records from 1.
inline record::TrialRecord at(int position, record::TrialRecord record) {
  record.provenance.position = position;
  return record;
}

}  // namespace paretopipe::testing
