#pragma once
#include <paretopipe/codec/codec.hpp>
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/experiment/device_profile.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/experiment/placement.hpp>
#include <paretopipe/experiment/scenario.hpp>
#include <paretopipe/experiment/server_load.hpp>
#include <paretopipe/experiment/training.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// A model and the stages that are to compute it: what a stage program has to know to say how the model can be cut.
struct UncutTrial {
  std::string model{};   ///< for an archive, the name of the file
  int num_classes = 10;  ///< means nothing to an archive, which has its own head
  int batch = 1;
  int micro_batch = 0;  ///< images of a micro-batch; divides `batch`; 0: the batch is not cut
  std::uint64_t seed = 1;
  std::string data{};            ///< as in DataSource::name
  std::string weights_sha256{};  ///< of the weights file, 64 hexadecimal digits; empty: weights are made from the seed
  int threads_per_stage = 1;
  std::vector<std::string> cpus{};  ///< one CPU list per stage
  ComputeTuning tuning{};
  ComputeMode compute{};
  Shaping shaping = Shaping::none;
  std::optional<Archive> archive{};            ///< if the model is a file
  DataIdentity data_identity{};                ///< of the data's files and labels
  Placement placement{};                       ///< empty unless stages share a device (experiment::simplified)
  std::vector<DeviceProfile> devices{};        ///< one per device; empty if none is emulated
  std::vector<std::string> compute_devices{};  ///< of each stage; empty if all compute on the CPU
  std::vector<std::string> on{};               ///< the device of each stage by name; empty if all are on one machine
  Encryption encryption = Encryption::none;    ///< of the links
  std::vector<int> stage_threads{};            ///< of each stage, 0: `threads_per_stage`; empty if no device says

  bool operator==(const UncutTrial&) const = default;

  /// The images that flow through the stages together.
  int images_per_micro_batch() const { return micro_batch == 0 ? batch : micro_batch; }

  /// What the stage's device is emulated as; the default profile if it is not.
  DeviceProfile device_profile(int stage) const;
  /// Compute threads of a stage: its device's, its device profile's, or `threads_per_stage`.
  int threads_of(int stage) const;
};

/// The CPUs that computed a trial's stages and the unsplit model (host::same_kind_of_cpu). They count as several kinds,
/// too, if their compute libraries are of different releases, or if the unsplit model did without stage 0's GPU or with
/// fewer threads.
enum class Cpus { of_one_kind, of_several_kinds };

/// What distinguishes the measured ways to cut a model. Those of one model under the same settings are compared with
/// each other.
struct Cut {
  std::vector<int> split_points;
  std::string codec = codec::kNone;
  std::string training{};  ///< Trial::way_of_training()

  auto operator<=>(const Cut&) const = default;
};

/// Everything that decides one run, and nothing else: two trials are the same if and only if they are equal.
struct Trial : UncutTrial {
  int block_count = 0;              ///< N of the model
  std::vector<int> split_points{};  ///< one per cut, ascending. {k}: the first k blocks on stage 0, the rest on stage 1
  std::optional<double> max_flips{};  ///< share of images whose class a lossy codec may change; absent: any
  std::string codec = codec::kNone;   ///< that the activations cross the cuts with (codec_of_cut)
  int batches = 1;
  int warmup = 0;
  int depth = 1;
  int repetition = 0;  ///< 0-based
  NetworkProfile network{};
  Phases phases = Phases::both;
  std::optional<ServerLoad> server{};  ///< of a Server phase after these, if there is one
  std::optional<Training> training{};  ///< exactly if `phases` is training; `batches` and `warmup` are then steps

  /// A baseline: the number of devices, each with the whole model, that batches are dealt out to in turn. There are
  /// then no split points. 0: the model is split.
  int data_parallel = 0;

  bool operator==(const Trial&) const = default;

  int stage_count() const { return data_parallel > 0 ? data_parallel : static_cast<int>(split_points.size()) + 1; }

  /// The blocks of each stage, in the order of the stages. Empty ranges at the endpoints; all blocks on every stage if
  /// the model is not split.
  std::vector<BlockRange> stage_blocks() const;

  Cut cut() const { return {split_points, codec, way_of_training()}; }

  /// "1f1b/8": the schedule, and the images of a micro-batch; with "+recompute" if forwards are recomputed. Ways to
  /// train are compared with each other like cuts. Empty unless the trial trains.
  std::string way_of_training() const;

  int micro_batches() const { return batch / images_per_micro_batch(); }  ///< of a batch

  /// All local: every block is on stage 0, so nothing crosses a link. All remote: every block is on the device farthest
  /// from the source.
  bool all_local() const { return !split_points.empty() && split_points.front() == block_count; }
  bool all_remote() const;

  /// The most that results may differ from the unsplit model's, as a share of its largest logit. On CPUs of one kind it
  /// is the mode's value, which is 0 in eager mode. With a GPU it is that of optimized, because other kernels sum in
  /// another order. On CPUs of several kinds it is ComputeMode::tolerance_across_cpus().
  double relative_tolerance(Cpus cpus_used = Cpus::of_one_kind) const;

  /// "mobilenet_v2 split 7/20 batch 8 micro-batch 2 over wifi (netem) repetition 3", for progress and messages.
  /// Repetitions are counted from 1 for people.
  std::string label() const;

  /// The identity: 16 hexadecimal digits, FNV-1a of the canonical JSON. It is the same on every machine and in every
  /// release that knows the same fields. Resume, merge and compare find a trial by it.
  std::string id() const;

  /// The identity of the trial without its repetition. Medians are over trials that share it.
  std::string configuration_id() const;

  /// The trial with its repetition, and what its cut() holds, at their defaults. It is the same for all trials of a
  /// group.
  Trial without_split() const;

  /// The identity of without_split(). Trials that share it have a frontier and baselines in common.
  std::string group_id() const;
};

void to_json(nlohmann::json& json, const Trial& trial);
void from_json(const nlohmann::json& json, Trial& trial);

}  // namespace paretopipe::experiment
