#pragma once
#include <paretopipe/core/fidelity.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/preparation.hpp>
#include <paretopipe/core/timeline.hpp>
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/gpu_watch.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/host/process_usage.hpp>
#include <paretopipe/record/summary.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::record {

/// The part of a machine on which a stage ran as another device, and the restriction as the kernel reports it. Threads
/// and CPUs are in the stage's own report, as for every stage.
struct EmulatedDevice {
  std::string profile;                ///< its name; what it asks for is in the trial
  int device = 0;                     ///< the device, which other stages may share
  std::optional<double> cpu_quota{};  ///< CPUs' worth of time
  std::optional<std::int64_t> memory_limit_bytes{};
  std::optional<int> cgroup_version{};  ///< 1 or 2, if the kernel restricts it

  bool operator==(const EmulatedDevice&) const = default;
};
PARETOPIPE_JSON(EmulatedDevice, profile, device, cpu_quota, memory_limit_bytes, cgroup_version)

/// Version of the records' JSON, documented in results/README.md. A reader refuses newer versions.
inline constexpr int kSchemaVersion = 1;

/// ok: measured, and the output is right. failed: no result; `failure` says why. invalid: measured, but not under the
/// requested conditions; `failure` says why. Only ok trials enter statistics.
enum class Status { ok, failed, invalid };

std::string to_string(Status status);

/// Why there is no result.
struct Failure {
  std::string phase;         ///< "launch", "network", "load", "run", "check", "clocks", "conditions"
  std::optional<int> stage;  ///< where it happened, if that is one stage
  std::string reason;        ///< a sentence

  bool operator==(const Failure&) const = default;
};
PARETOPIPE_JSON(Failure, phase, reason, stage)

/// Marks a trial that two stage programs measured right after each other.
struct SideBySide {
  std::string pair;  ///< shared by both records and no others: 16 random hexadecimal digits
  int turn = 0;      ///< which of the two it was: 0 or 1

  bool operator==(const SideBySide&) const = default;
};
PARETOPIPE_JSON(SideBySide, pair, turn)

/// What produced the record.
struct Provenance {
  std::string version;  ///< of paretopipe
  std::string git_state;
  std::vector<std::string> command_line;
  std::string started_at;                    ///< UTC, ISO 8601; only for people: no duration is derived from it
  std::string stage_program_sha256{};        ///< of the program's file; empty in older records
  std::optional<SideBySide> side_by_side{};  ///< if the sweep measured another stage program beside this one
  /// The number of this measurement in its sweep, from 1 and with repeated ones counted: the order in which trials ran.
  /// The store counts; a resumed sweep goes on counting. Absent in older records and outside a sweep.
  std::optional<int> position{};

  bool operator==(const Provenance&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(Provenance, (version, git_state, command_line, started_at, side_by_side, position),
                             (stage_program_sha256))

/// The settings actually applied to one stage in this trial, and what it used.
struct StageReport {
  host::HostContext host;
  host::HostState state;   ///< right after the trial
  nlohmann::json compute;  ///< compute library, threads and switches as read back by the stage
  std::string cpus;        ///< affinity as read back, in the kernel's list format
  experiment::BlockRange blocks;
  std::string last_block;  ///< its name, as given by the model's author; empty without blocks, and in older records
  std::int64_t parameter_bytes = 0;       ///< parameters and buffers of this trial's blocks on this stage
  std::int64_t held_parameter_bytes = 0;  ///< of all blocks that the process held (a sweep keeps them between trials)
  std::optional<std::int64_t> peak_rss_bytes;       ///< of the process during the trial, held blocks included
  std::optional<host::StageMemory> memory{};        ///< needed by this trial; absent on GPUs and in older records
  host::ProcessUsage usage;                         ///< over all phases, warm-up included
  std::optional<host::CpuConditions> conditions;    ///< of the stage's CPUs; absent in older records
  std::optional<host::GpuUsage> gpu{};              ///< over all phases; absent on CPUs and if unreadable
  std::optional<EmulatedDevice> emulated_device{};  ///< if its device has a profile
  std::optional<Preparation> prepared{};            ///< its graph, if it computes one; absent in older records
  std::string git_state{};  ///< of the stage program; empty if it is the driver's, or nothing tells

  bool operator==(const StageReport&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(StageReport,
                             (host, state, compute, cpus, blocks, parameter_bytes, held_parameter_bytes, usage,
                              peak_rss_bytes, memory, conditions, gpu, emulated_device, prepared),
                             (last_block, git_state))

/// Maps a stage's clock to stage 0's, the one time base of all samples: stage 0's time = stage's time + offset. In
/// older records the base is the driver's clock.
struct ClockRelation {
  bool same_clock = true;             ///< one host: offset and error are exactly zero
  std::int64_t offset_before_ns = 0;  ///< for the stage's first frame; in between it changes evenly
  std::int64_t offset_after_ns = 0;   ///< for its last one
  std::int64_t error_bound_ns = 0;    ///< the true offset is at most this far away (stats::ClockBounds)

  /// The lowest and the highest rate at which the offset may change. Absent for the same clock, and in older records.
  std::optional<std::array<double, 2>> drift_ppm{};

  bool operator==(const ClockRelation&) const = default;
};
PARETOPIPE_JSON(ClockRelation, same_clock, offset_before_ns, offset_after_ns, error_bound_ns, drift_ppm)

/// Raw samples of one phase: every micro-batch of every batch, including dropped ones, in nanoseconds of one clock
/// since the phase's first batch was handed to the pipeline.
struct PhaseSamples {
  int warmup = 0;         ///< batches excluded from statistics: the trial's number, or more if it settled later
  int depth = 1;          ///< batches in flight
  int micro_batches = 1;  ///< per batch: the number of consecutive entries of each series that belong to it
  std::vector<StageTimeline> stages;
  ResultTimeline results;

  /// The number of devices that batches were dealt out to in turn (core/timeline.hpp). With more than one, `stages` has
  /// two entries: the source as it sent each batch, and the batch's device. The source's own batches were not sent.
  int devices = 1;

  bool operator==(const PhaseSamples&) const = default;
};

/// Batches that took much longer than the others of their phase. Numbered from 0 including the warm-up, ascending. They
/// stay in every statistic.
struct Outliers {
  std::vector<int> single_stream;  ///< by latency
  std::vector<int> offline;        ///< by the time since the previous completion

  bool empty() const { return single_stream.empty() && offline.empty(); }
  bool operator==(const Outliers&) const = default;
};

/// A stage that became slower within a phase, and stayed so (analysis/stats/disturbances.hpp). Its batches stay in
/// every statistic.
struct SlowDown {
  bool offline = false;  ///< in the Offline phase; otherwise in the SingleStream phase
  int stage = 0;         ///< or device, if batches were dealt out
  int batch = 0;         ///< its first slow batch, from 0 including the warm-up; a device numbers its own
  double before_ns = 0;  ///< median compute time of a measured batch before; the other: from then on
  double after_ns = 0;

  bool operator==(const SlowDown&) const = default;
};

/// One cut of the pipeline: the link from one stage to the next, or the way back of the results to stage 0.
struct LinkPayload {
  int from = 0;
  int to = 0;
  std::int64_t payload_bytes = 0;  ///< tensor bytes per batch, over all its micro-batches, as they cross the link
  std::int64_t header_bytes = 0;   ///< framing per batch
  /// Bytes of the same tensors before a codec encoded them; absent without one. With one, the payload is the mean over
  /// all batches.
  std::optional<std::int64_t> unencoded_bytes{};

  bool operator==(const LinkPayload&) const = default;
};
PARETOPIPE_JSON(LinkPayload, from, to, payload_bytes, header_bytes, unencoded_bytes)

/// Compares the output of every batch with the unsplit model's on the same input.
struct Fidelity {
  double max_abs_difference = 0;  ///< of the logits; 0: equal bit for bit
  double top1_agreement = 1;      ///< share of images whose largest logit is the same
  int batches_compared = 0;
  double tolerance = 0;                         ///< upper limit of the difference: see Trial::relative_tolerance
  std::optional<Accuracy> accuracy{};           ///< of the split model's own results, if there are labels
  std::optional<double> mean_abs_difference{};  ///< over all logits of all batches; absent in older records

  /// A codec changed what crossed: no difference is refused, only more changed classes than the trial's `max_flips`.
  bool lossy_codec = false;
  std::optional<double> max_flips{};

  /// The unsplit model in the trial's mode against eager float32; absent in eager mode, and in older records.
  std::optional<UnsplitFidelity> unsplit_against_eager{};

  double flips() const { return 1 - top1_agreement; }
  bool kept() const {
    constexpr double kRounding = 1e-9;  // 1 − 0.99 is more than 0.01; of a billion images, one makes a difference
    return lossy_codec ? !max_flips || flips() <= *max_flips + kRounding : max_abs_difference <= tolerance;
  }
  bool operator==(const Fidelity&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(Fidelity,
                             (max_abs_difference, top1_agreement, batches_compared, mean_abs_difference, max_flips,
                              accuracy, unsplit_against_eager),
                             (tolerance, lossy_codec))

/// One line of records.jsonl.
struct TrialRecord {
  experiment::Trial trial;
  Status status = Status::ok;
  std::optional<Failure> failure;  ///< present unless ok
  Provenance provenance;
  std::vector<StageReport> stages;
  std::vector<ClockRelation> clocks;  ///< one per stage
  std::vector<LinkPayload> links;     ///< in ring order, or of each device there and back; empty when local
  std::optional<experiment::NetworkEvidence> network;  ///< present exactly if the links were shaped
  std::optional<PhaseSamples> single_stream;           ///< if the trial has the phase, unless failed
  std::optional<PhaseSamples> offline;                 ///< if the trial has the phase, unless failed
  std::optional<TrainingSamples> training{};           ///< if the trial trains, unless failed
  std::optional<Outliers> outliers;                    ///< absent if there are none, and in older records
  std::vector<SlowDown> slow_downs;                    ///< empty in older records
  std::optional<Fidelity> fidelity;                    ///< absent where the trial trains
  std::optional<Summary> summary;                      ///< derived from the samples; present unless failed
  std::optional<ServerRecord> server;                  ///< if the trial has a Server phase, unless failed

  bool operator==(const TrialRecord&) const = default;
};

/// True if two stage programs measured one trial in turns, and these are the two records.
bool side_by_side(const TrialRecord& one, const TrialRecord& other);

/// The most by which the time of a transfer from one stage to another can be wrong because each end is read on a clock
/// of its own. Absent if the record says that both ends have one clock, or says nothing of them. The sum of the times
/// there and back is not affected.
std::optional<std::int64_t> clock_error_ns(const TrialRecord& record, int from, int to);

/// The largest such error over the record's links.
std::optional<std::int64_t> clock_error_ns(const TrialRecord& record);

void to_json(nlohmann::json& json, const TrialRecord& record);

/// Throws UsageError for a missing or newer schema version, for missing or mistyped fields, and for a record whose id
/// does not match its trial (edited by hand).
void from_json(const nlohmann::json& json, TrialRecord& record);

/// "pi (Cortex-A72, 4 CPUs)": what tells one machine from another.
std::string machine_of(const host::HostContext& host);

/// The machines that a record's stages ran on, each once, in the order of the stages. Empty for a record whose stages
/// report nothing, such as one that failed at launch. Records of the same machine give the same text; it is up to the
/// owner that two machines have different names.
std::vector<std::string> machines_of(const TrialRecord& record);

}  // namespace paretopipe::record
