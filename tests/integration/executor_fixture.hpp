#pragma once
#include <paretopipe/run/pipeline_executor.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/message_of.hpp>
#include <support/processes.hpp>
#include <support/temporary_folder.hpp>

#include "shaping/machine_state.hpp"

namespace paretopipe::testing {

inline const std::filesystem::path kFakeStage = std::filesystem::path(PARETOPIPE_BIN_DIR) / "fake-stage";

/// Three blocks that take no time, so that a trial takes milliseconds.
inline constexpr const char* kModel = "synthetic:0ms/4kB,0ms/64kB,0ms";
inline constexpr int kBlocks = 3;

inline experiment::Trial trial_at(std::vector<int> splits, int repetition = 0) {
  experiment::Trial trial;
  trial.model = kModel;
  trial.block_count = kBlocks;
  trial.batches = 6;
  trial.warmup = 2;
  trial.depth = 3;
  trial.repetition = repetition;
  trial.data = "random";
  trial.cpus.assign(splits.size() + 1, "");  // the affinity is left alone
  trial.split_points = std::move(splits);
  return trial;
}

inline experiment::Trial trial_in_micro_batches(std::vector<int> splits, int batch, int micro_batch) {
  auto trial = trial_at(std::move(splits));
  trial.batch = batch;
  trial.micro_batch = micro_batch == batch ? 0 : micro_batch;
  return trial;
}

/// The whole model on each of so many devices, which batches are dealt out to.
inline experiment::Trial dealt_to(int devices) {
  auto trial = trial_at({});
  trial.data_parallel = devices;
  trial.cpus.assign(static_cast<std::size_t>(devices), "");
  return trial;
}

/// Over a link of this kind; where it shapes, over a rate, which every kernel's tbf knows.
inline experiment::Trial paced_over(experiment::Shaping kind, experiment::Trial trial = trial_at({1})) {
  trial.shaping = kind;
  if (kind == experiment::Shaping::none) return trial;
  trial.network.name = "paced";
  trial.network.forward.rate_bit_per_s = 80'000'000;
  trial.network.backward.rate_bit_per_s = 40'000'000;
  return trial;
}

inline void need_kind(experiment::Shaping kind) {
  if (kind == experiment::Shaping::netem) support::need(support::capabilities().tbf);
}

/// Batches that pass in one trial.
inline int batches_of(const experiment::Trial& trial) {
  return 2 * (trial.warmup + trial.batches);
}

inline run::ExecutorOptions options_with(const std::filesystem::path& stage_program = kFakeStage, int timeout_s = 60) {
  run::ExecutorOptions options;
  options.stage_program = stage_program;
  options.timeout_s = timeout_s;
  options.provenance = {"1.2.3", "abc", {"paretopipe", "sweep"}, {}};
  return options;
}

/// Any record can be written, and read again as it was.
inline void check_survives_writing(const record::TrialRecord& record) {
  const nlohmann::json written = record;
  CHECK(nlohmann::json::parse(written.dump()).get<record::TrialRecord>() == record);
}

using support::contains;
using support::FaultOnce;

}  // namespace paretopipe::testing
