#pragma once
#include <paretopipe/config/axis.hpp>
#include <paretopipe/config/compute_choice.hpp>
#include <paretopipe/config/partition.hpp>
#include <paretopipe/config/phases.hpp>
#include <paretopipe/config/placement.hpp>
#include <paretopipe/config/server_load.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::config {

/// Which split points of two stages to measure. `all` is every k from 0 (all remote) to N (all local), N included.
struct SplitSelection {
  bool all = true;
  std::vector<int> points;  ///< meaningful when `all` is false; sorted, no duplicates

  bool operator==(const SplitSelection&) const = default;
};

/// Switches for what a stage does to compute fast: what a deployment would do. Each can be turned off.
struct ComputeTuning {
  bool flush_denormals = true;      ///< denormals as zero
  bool tune_malloc = true;          ///< no page faults for every batch's activations
  bool passive_openmp_wait = true;  ///< OMP_WAIT_POLICY=passive: idle workers sleep rather than spin
  bool operator==(const ComputeTuning&) const = default;
};

/// How many trials of every split. Adaptive: as many as it takes, and none for what is beaten (run/adaptive_sweep.hpp).
struct Repeat {
  bool adaptive = false;
  int trials = 5;           ///< of every split; the most of it where adaptive
  double precision = 0.02;  ///< adaptive: half of the 95 % interval of every objective, as a share of its median
  int budget_s = 0;         ///< adaptive: seconds after which no further round begins; 0: no limit

  bool operator==(const Repeat&) const = default;
};
inline constexpr int kMostAdaptiveTrials = 20;

inline constexpr int kMostImages = 65'536;  ///< of a batch

/// What is to be measured, as a file or flags say it. Every field has a default; `validate` says what is out of range.
struct Experiment {
  std::vector<std::string> models{"mobilenet_v2"};
  SplitSelection splits;                  ///< of two stages
  int stages = 2;                         ///< 2 … kMostStages
  std::vector<std::string> partitions{};  ///< see parse_partition; empty: `splits` of two stages, "all" of more
  int max_partitions = 0;                 ///< how many of "all" to choose by chance, beside the endpoints; 0: every one
  int num_classes = 10;
  std::vector<std::string> baselines{};  ///< to be measured beside the partitions (parse_baseline)
  Axis batch = 1;                        ///< images per batch
  std::vector<int>
      micro_batches{};  ///< images per micro-batch that a batch is cut into (micro_batch_sizes); empty: `batch`
  int batches = 32;     ///< measured batches of each phase
  int warmup = 4;       ///< batches run and dropped before each phase
  Repeat repeat;
  Axis depth = 4;          ///< batches in flight in the Offline phase
  std::uint64_t seed = 1;  ///< of weights, random inputs and the order of trials
  std::string data = "fashion-mnist";
  std::string labels{};   ///< of the data's samples: a file, or kOwnLabels; empty: nothing is known of them
  std::string weights{};  ///< file with the weights of the only model; empty: they are made of the seed
  Axis threads_per_stage = 1;
  std::vector<std::string> cpus;  ///< one CPU list per stage ("0", "0-3,8"); empty: the machine's CPUs are dealt out
  ComputeTuning tuning;
  ComputeChoice compute{};
  std::vector<std::string> compute_devices{};     ///< of all stages, or of each (compute_devices()); empty: the CPU
  std::vector<std::string> networks{"unshaped"};  ///< profiles that ship, or files (load_network_profile)
  std::string shaping = "auto";                   ///< auto, netem, emulated or none (parse_shaping)
  int repeat_slow = 2;  ///< how often a trial that fell into a slow window of the machine is measured again
  int trial_timeout_s = 600;
  std::string input{};  ///< shape of a sample of the archives among the models: "3x224x224"; empty: there are none
  std::string cuts = "unit";     ///< what the blocks of the archives end at: unit, all, modules, or a pattern
  int max_crossing = 1;          ///< tensors that may cross a cut of the archives
  Phases phases = Phases::both;  ///< of every trial
  ServerSettings server{};       ///< a Server phase after these, at each of its rates
  Placement placement{};         ///< of the stages on devices; empty: each on one of its own
  std::vector<std::string> device_profiles{};  ///< of each device (load_device_profile); empty: none restricts one

  bool operator==(const Experiment&) const = default;
};

/// Images of each micro-batch that a batch of `batch` images is measured in, one size after the other: those of the
/// micro-batches that divide it, or the batch itself where the experiment names none.
std::vector<int> micro_batch_sizes(const Experiment& experiment, int batch);

void to_json(nlohmann::json& json, const SplitSelection& splits);
void from_json(const nlohmann::json& json, SplitSelection& splits);
void to_json(nlohmann::json& json, const ComputeTuning& tuning);
void to_json(nlohmann::json& json, const Repeat& repeat);
/// For records, which a program wrote: every key is required.
void from_json(const nlohmann::json& json, ComputeTuning& tuning);
void to_json(nlohmann::json& json, const Experiment& experiment);

/// Reads an experiment over `defaults`. Unknown keys, wrong types and values out of range throw UsageError with the
/// key's path.
Experiment experiment_from_json(const nlohmann::json& json, const Experiment& defaults = {});

/// Reads a file; // and /* */ comments are allowed. Every UsageError names the file, and the line for malformed JSON.
Experiment load_experiment(const std::filesystem::path& file);

/// Throws UsageError naming the first field whose value is out of range, and the range.
void validate(const Experiment& experiment);

/// "all", "3", "1,4,7", "2-5" or mixtures ("0,2-5"). Throws UsageError.
SplitSelection parse_splits(const std::string& text);
std::string to_string(const SplitSelection& splits);

}  // namespace paretopipe::config
