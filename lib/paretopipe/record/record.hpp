#pragma once
#include <paretopipe/core/accuracy.hpp>
#include <paretopipe/core/preparation.hpp>
#include <paretopipe/core/timeline.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/gpu_watch.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/host/process_usage.hpp>
#include <paretopipe/plan/trial.hpp>
#include <paretopipe/record/emulated_device.hpp>
#include <paretopipe/record/server_record.hpp>
#include <paretopipe/record/summary.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::record {

/// Version of the records' JSON. results/README.md documents it; a reader refuses newer ones.
inline constexpr int kSchemaVersion = 1;

/// ok: measured and the output is right. failed: no result, `failure` says why. invalid: measured, but not under the
/// conditions that were asked for, as `failure` says. Only ok trials enter statistics.
enum class Status { ok, failed, invalid };

std::string to_string(Status status);

/// Why there is no result.
struct Failure {
  std::string phase;         ///< "launch", "network", "load", "run", "check", "conditions"
  std::optional<int> stage;  ///< where it happened, if one stage can be named
  std::string reason;        ///< a sentence

  bool operator==(const Failure&) const = default;
};

/// That two stage programs measured this trial right after each other.
struct SideBySide {
  std::string pair;  ///< of both records, and of no others: 16 hexadecimal digits by chance
  int turn = 0;      ///< which of the two it was: 0 or 1

  bool operator==(const SideBySide&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SideBySide, pair, turn)

/// What produced the record.
struct Provenance {
  std::string version;  ///< of paretopipe
  std::string git_state;
  std::vector<std::string> command_line;
  std::string started_at;                    ///< UTC, ISO 8601; for people only, no duration is derived from it
  std::string stage_program_sha256{};        ///< of its file; empty in older records
  std::optional<SideBySide> side_by_side{};  ///< where the sweep measured another stage program beside this one
  /// Which measurement of its sweep this is, from 1, those counted that were made again: the order in which trials
  /// ran. The store counts, a sweep that is resumed goes on counting. Absent in older records, and outside of a sweep.
  std::optional<int> position{};

  bool operator==(const Provenance&) const = default;
};
void to_json(nlohmann::json& json, const Provenance& provenance);
void from_json(const nlohmann::json& json, Provenance& provenance);

/// What was really applied to, and used by, one stage in this trial.
struct StageReport {
  host::HostContext host;
  host::HostState state;   ///< right after the trial
  nlohmann::json compute;  ///< compute library, threads and switches as read back by the stage
  std::string cpus;        ///< affinity as read back, in the kernel's list format
  config::BlockRange blocks;
  std::string last_block;  ///< its name, as the model's author has it; empty without blocks, and in older records
  std::int64_t parameter_bytes = 0;       ///< parameters and buffers of this trial's blocks on this stage
  std::int64_t held_parameter_bytes = 0;  ///< of all blocks that the process held (a sweep keeps them between trials)
  std::optional<std::int64_t> peak_rss_bytes;       ///< of the process during the trial, held blocks included
  std::optional<host::StageMemory> memory{};        ///< that this trial needs; absent on GPUs, and in older records
  host::ProcessUsage usage;                         ///< over all phases, warm-up included
  std::optional<host::CpuConditions> conditions;    ///< of the stage's CPUs; absent in older records
  std::optional<host::GpuUsage> gpu{};              ///< over all phases; absent on CPUs, and where it cannot be read
  std::optional<EmulatedDevice> emulated_device{};  ///< that it ran on, where its device has a profile
  std::optional<Preparation> prepared{};            ///< its graph, where it computes one; absent in older records

  bool operator==(const StageReport&) const = default;
};

/// How a stage's clock was brought to the driver's, the one time base of all samples: driver's time = stage's time +
/// offset.
struct ClockRelation {
  bool same_clock = true;  ///< one host: offset and error are exactly zero
  std::int64_t offset_before_ns = 0;
  std::int64_t offset_after_ns = 0;
  std::int64_t error_bound_ns =
      0;  ///< half the round-trip time of the best exchange (RFC 5905 calls it the dispersion's delay part)

  bool operator==(const ClockRelation&) const = default;
};

/// Raw samples of one phase: every micro-batch of every batch, the dropped ones included, in nanoseconds of one clock
/// since the phase's first batch was handed to the pipeline.
struct PhaseSamples {
  int warmup = 0;         ///< the first so many batches enter no statistic: the trial's, or more where it settled later
  int depth = 1;          ///< batches in flight
  int micro_batches = 1;  ///< of each batch: so many entries of every series are one batch's
  std::vector<StageTimeline> stages;
  ResultTimeline results;

  /// That batches were dealt out to in turn (core/deal.hpp). Of more than one, `stages` has two: the source as it sent
  /// each batch on its way, and the batch's device, whichever that was. The source's own batches were sent nowhere.
  int devices = 1;

  bool operator==(const PhaseSamples&) const = default;
};

/// Batches that took much longer than their phase's others, numbered from 0 with the warm-up, ascending. They stay in
/// every statistic.
struct Outliers {
  std::vector<int> single_stream;  ///< by latency
  std::vector<int> offline;        ///< by the time since the completion before

  bool empty() const { return single_stream.empty() && offline.empty(); }
  bool operator==(const Outliers&) const = default;
};

/// A stage that became slower within a phase, and stayed so (stats/slow_downs.hpp). Its batches stay in every
/// statistic.
struct SlowDown {
  bool offline = false;  ///< in the Offline phase; otherwise in the SingleStream phase
  int stage = 0;         ///< or the device that batches were dealt out to
  int batch = 0;         ///< from which on it was slow, numbered from 0 with the warm-up; of a device among its own
  double before_ns = 0;  ///< what it computed at a measured batch before, and from then on: medians
  double after_ns = 0;

  bool operator==(const SlowDown&) const = default;
};

/// One cut of the pipeline: the link from one stage to the next, or the way back of the results to stage 0.
struct LinkPayload {
  int from = 0;
  int to = 0;
  std::int64_t payload_bytes = 0;  ///< tensor bytes per batch that crosses it, of all its micro-batches
  std::int64_t header_bytes = 0;   ///< framing per batch

  bool operator==(const LinkPayload&) const = default;
};

/// The output of every batch against the unsplit model's on the same input.
struct Fidelity {
  double max_abs_difference = 0;  ///< of the logits; 0 means bit for bit
  double top1_agreement = 1;      ///< share of images whose largest logit is the same
  int batches_compared = 0;
  double tolerance = 0;                ///< that the difference may not exceed: 0 in eager mode (config::ComputeMode)
  std::optional<Accuracy> accuracy{};  ///< of the split model's own results, where there are labels

  /// The unsplit model in the trial's mode against eager float32; absent in eager mode, and in older records.
  std::optional<UnsplitFidelity> unsplit_against_eager{};

  bool kept() const { return max_abs_difference <= tolerance; }
  bool operator==(const Fidelity&) const = default;
};

/// One line of records.jsonl.
struct TrialRecord {
  plan::Trial trial;
  Status status = Status::ok;
  std::optional<Failure> failure;  ///< present unless ok
  Provenance provenance;
  std::vector<StageReport> stages;
  std::vector<ClockRelation> clocks;  ///< one per stage
  std::vector<LinkPayload> links;     ///< in ring order, or of each device there and back; empty when local
  std::optional<config::NetworkEvidence> network;  ///< present exactly when something shaped the links
  std::optional<PhaseSamples> single_stream;       ///< where the trial has the phase, unless failed
  std::optional<PhaseSamples> offline;             ///< where the trial has the phase, unless failed
  std::optional<Outliers> outliers;                ///< absent where there are none, and in older records
  std::vector<SlowDown> slow_downs;                ///< none in older records
  std::optional<Fidelity> fidelity;
  std::optional<Summary> summary;      ///< derived from the samples; present unless failed
  std::optional<ServerRecord> server;  ///< where the trial has a Server phase, unless failed

  bool operator==(const TrialRecord&) const = default;
};

/// Whether the two are what two stage programs made of one trial in turns.
bool side_by_side(const TrialRecord& one, const TrialRecord& other);

void to_json(nlohmann::json& json, const TrialRecord& record);

/// Throws UsageError for a missing or newer schema version, for missing or mistyped fields, and for a record whose id
/// does not belong to its trial (edited by hand).
void from_json(const nlohmann::json& json, TrialRecord& record);

}  // namespace paretopipe::record
