#pragma once
#include <paretopipe/run/pipeline_executor.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/processes.hpp>
#include <support/temporary_folder.hpp>
#include <support/thrown.hpp>

#include "shaping/machine_state.hpp"

namespace paretopipe::testing {

using support::check_contains;
using support::check_throws;
using support::contains;
using support::FaultOnce;

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

inline experiment::Trial to_train(experiment::Trial trial) {
  trial.phases = experiment::Phases::training;
  trial.training.emplace();
  return trial;
}

/// With a stage on each of the devices that are named; one may be named twice.
inline experiment::Trial on(std::vector<std::string> names, experiment::Trial trial) {
  experiment::Placement placement;
  std::vector<std::string> seen;
  for (const auto& name : names) {
    const auto known = std::find(seen.begin(), seen.end(), name);
    placement.push_back(static_cast<int>(known - seen.begin()));
    if (known == seen.end()) seen.push_back(name);
  }
  trial.placement = experiment::simplified(placement);
  trial.on = std::move(names);
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

/// No link of a trial that is paced_over() may be faster than its rate.
inline void check_paced(const record::TrialRecord& record) {
  for (std::size_t i = 0; i < record.summary->links.size(); ++i) {
    const auto& link = record.summary->links[i];
    const auto bits = static_cast<double>(record.links[i].payload_bytes) * 8;
    CHECK(link.transfer_p50_ns >= bits / (link.to == 0 ? 0.04 : 0.08) * 0.9);
  }
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

/// A device whose stages a launcher starts: another machine as far as the driver knows.
inline experiment::Device device_over(const std::string& name, std::vector<std::string> launcher = {"env"},
                                      const std::filesystem::path& program = kFakeStage) {
  experiment::Device device;
  device.name = name;
  device.launch = std::move(launcher);
  device.address = "127.0.0.1";
  device.program = program.string();
  return device;
}

/// With these devices beside the one that is this machine.
inline run::ExecutorOptions options_on(const std::vector<experiment::Device>& devices, int timeout_s = 60) {
  auto options = options_with(kFakeStage, timeout_s);
  experiment::Device here;
  here.address = "127.0.0.1";
  options.devices.emplace(here.name, here);
  for (const auto& device : devices) options.devices.emplace(device.name, device);
  return options;
}

/// A program that a shell interprets.
class Script {
 public:
  explicit Script(const std::string& lines) { support::write_script(path(), lines); }
  std::filesystem::path path() const { return folder_.path() / "script.sh"; }

 private:
  support::TemporaryFolder folder_;
};

/// Sends a stage more than sockets hold.
inline void send_much(run::StageClient& stage, const run::WaitLimits& limits) {
  const std::vector<std::byte> large(std::size_t{64} << 20);
  const wire::TensorSpec spec{wire::DType::float32, wire::MemoryFormat::contiguous, {std::ssize(large) / 4}};
  stage.send_within(limits, [&] { stage.send_tensor(0, 0, spec, large); });
}

inline void require_ok(const record::TrialRecord& record) {
  INFO((record.failure ? record.failure->reason : ""));
  REQUIRE(record.status == record::Status::ok);
}

inline record::Failure failure_of(const record::TrialRecord& record) {
  REQUIRE(record.status == record::Status::failed);
  return *record.failure;
}

/// For trials over networks, which a busy machine can make invalid.
inline void require_not_failed(const record::TrialRecord& record) {
  INFO((record.failure ? record.failure->reason : ""));
  REQUIRE(record.status != record::Status::failed);
  CHECK(record.fidelity->max_abs_difference == 0);
}

/// Any record can be written, and read again as it was.
inline void check_survives_writing(const record::TrialRecord& record) {
  const nlohmann::json written = record;
  CHECK(nlohmann::json::parse(written.dump()).get<record::TrialRecord>() == record);
}

}  // namespace paretopipe::testing
