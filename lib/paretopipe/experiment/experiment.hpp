#pragma once
#include <paretopipe/codec/codec.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/partition.hpp>
#include <paretopipe/experiment/placement.hpp>
#include <paretopipe/experiment/scenario.hpp>
#include <paretopipe/experiment/server_load.hpp>
#include <paretopipe/experiment/training.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// Which split points of two stages to measure. `all` is every k from 0 (all remote) to N (all local), inclusive.
struct SplitSelection {
  bool all = true;
  std::vector<int> points;  ///< meaningful when `all` is false; sorted, no duplicates

  bool operator==(const SplitSelection&) const = default;
};

/// Switches for what a stage does to compute fast, as a deployment would. Each can be turned off.
struct ComputeTuning {
  bool flush_denormals = true;      ///< treat denormals as zero
  bool tune_malloc = true;          ///< avoid page faults for every batch's activations
  bool passive_openmp_wait = true;  ///< OMP_WAIT_POLICY=passive: idle workers sleep rather than spin
  bool operator==(const ComputeTuning&) const = default;
};
PARETOPIPE_JSON(ComputeTuning, flush_denormals, tune_malloc, passive_openmp_wait)

/// How many trials each split gets. Adaptive: as many as needed, and no more for splits that are beaten
/// (run/adaptive_sweep.hpp).
struct Repeat {
  bool adaptive = false;
  int trials = 5;           ///< per split; the maximum where adaptive
  double precision = 0.02;  ///< adaptive: half of each objective's 95 % interval, as a share of its median
  int budget_s = 0;         ///< adaptive: seconds after which no further round begins; 0: no limit

  bool operator==(const Repeat&) const = default;
};
inline constexpr int kMostAdaptiveTrials = 20;

inline constexpr int kMostImages = 65'536;  ///< images of a batch

/// Batches of a phase. Limited because a stage reports the moments of all batches of a trial in one control message of
/// at most 64 MiB.
inline constexpr int kMaxBatches = 50'000;

/// What to measure, as read from a file or flags. Every field has a default; `validate` refuses values out of range.
struct Experiment {
  Task task = Task::infer;
  TrainingSettings training{};  ///< if the task is to train
  std::vector<std::string> models{"mobilenet_v2"};
  SplitSelection splits;                  ///< of two stages
  int stages = 2;                         ///< 2 … kMostStages
  std::vector<std::string> partitions{};  ///< see parse_partition; empty: `splits` of two stages, "all" of more
  int max_partitions = 0;                 ///< how many of "all" to draw at random, besides the endpoints; 0: all
  std::vector<std::string> codecs{codec::kNone};  ///< measured in turn, canonical (canonical_codecs)
  std::vector<std::string> codec_inputs{};        ///< of a model's input where it crosses; empty: as `codecs`
  std::optional<double> max_flips{};              ///< share of images whose class a lossy codec may change
  int num_classes = 10;
  std::vector<std::string> baselines{};  ///< measured besides the partitions (parse_baseline)
  Axis batch = 1;                        ///< images per batch
  std::vector<int>
      micro_batches{};  ///< images per micro-batch that a batch is cut into (micro_batch_sizes); empty: `batch`
  int batches = 32;     ///< measured batches of each phase; of training, steps
  int warmup = 4;       ///< batches run and discarded before each phase
  Repeat repeat;
  Axis depth = 4;          ///< batches in flight in the Offline phase
  std::uint64_t seed = 1;  ///< of weights, random inputs and the order of trials
  std::string data = "fashion-mnist";
  std::string labels{};   ///< of the data's samples: a file, or kOwnLabels; empty: unknown
  std::string weights{};  ///< file with the weights of the only model; empty: made from the seed
  Axis threads_per_stage = 1;
  std::vector<std::string> cpus;  ///< one CPU list per stage ("0", "0-3,8"); empty: assigned automatically
  ComputeTuning tuning;
  ComputeChoice compute{};
  std::vector<std::string> compute_devices{};     ///< of all stages or of each (compute_devices()); empty: the CPU
  std::vector<std::string> networks{"unshaped"};  ///< shipped profiles or files (load_network_profile)
  std::string shaping = "auto";                   ///< auto, netem, emulated or none (parse_shaping)
  int repeat_slow = 2;  ///< how often a trial that fell into a slow window of the machine is measured again
  int trial_timeout_s = 600;
  int rest_s = 0;                 ///< seconds to wait before each trial
  std::string input{};            ///< sample shape of the models that are archives: "3x224x224"; empty: no archives
  std::string cuts = "unit";      ///< what the blocks of the archives end at: unit, all, modules, or a pattern
  int max_crossing = 1;           ///< tensors that may cross a cut of the archives
  Phases phases = Phases::both;   ///< of every trial
  ServerSettings server{};        ///< a Server phase after these, at each of the rates
  std::vector<std::string> on{};  ///< the device of each stage (find_devices); empty: all run on this machine
  std::string devices_file{};     ///< where `on` is looked up; empty: the user's
  Encryption encryption = Encryption::none;    ///< of the links between stages
  Placement placement{};                       ///< of the stages on devices; empty: one device per stage
  std::vector<std::string> device_profiles{};  ///< of each device (load_device_profile); empty: no restrictions

  bool operator==(const Experiment&) const = default;
};

/// The sizes of micro-batches, in images, in which a batch of `batch` images is measured in turn: those of
/// `micro_batches` that divide it, or `batch` itself if the experiment names none.
std::vector<int> micro_batch_sizes(const Experiment& experiment, int batch);

void to_json(nlohmann::json& json, const SplitSelection& splits);
void from_json(const nlohmann::json& json, SplitSelection& splits);
void to_json(nlohmann::json& json, const Experiment& experiment);

/// Reads an experiment over `defaults`. Unknown keys, wrong types and values out of range throw UsageError with the
/// key's path. With `on`, settings are only held against their own ranges: their devices decide others, and are found
/// later (settle_devices), after which validate() is to be called.
Experiment experiment_from_json(const nlohmann::json& json, const Experiment& defaults = {});

/// Reads a file, which may contain // and /* */ comments. Every UsageError names the file, and the line if the JSON is
/// malformed.
Experiment load_experiment(const std::filesystem::path& file);

/// Throws UsageError naming the first field whose value is out of range, and the range.
void validate(const Experiment& experiment);

/// Parses "all", "3", "1,4,7", "2-5" or mixtures ("0,2-5"). Throws UsageError.
SplitSelection parse_splits(const std::string& text);
std::string to_string(const SplitSelection& splits);

}  // namespace paretopipe::experiment
