#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/preparation.hpp>
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/training.hpp>
#include <paretopipe/host/process_usage.hpp>
#include <paretopipe/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::stage {

/// The bytes of tensors that a thread has allocated, less those that it has freed, as backends' allocators count them.
/// Each thread has a count of its own, and the computing thread's is used. The send thread frees results at moments
/// that depend on chance, and so would a peak that counted this.
struct TensorBytes {
  std::int64_t alive = 0;
  std::int64_t most = 0;  ///< peak since the last watch began

  void add(std::int64_t bytes) {
    alive += bytes;
    if (alive > most) most = alive;
  }
  void remove(std::int64_t bytes) { alive -= bytes; }
};

/// The counter of this thread.
inline TensorBytes& tensor_bytes() {
  thread_local TensorBytes bytes;
  return bytes;
}

/// Watches what this thread allocates from now on. Only one watch at a time.
class TensorWatch {
 public:
  TensorWatch() : before_(tensor_bytes().alive) { tensor_bytes().most = before_; }

  /// The peak so far, and the current amount.
  std::int64_t most() const { return tensor_bytes().most - before_; }
  std::int64_t now() const { return tensor_bytes().alive - before_; }

 private:
  std::int64_t before_;
};

/// A tensor as the pipeline sees it: its spec, its bytes, and the owner that keeps them alive. If several tensors cross
/// a cut, this is the first of them and holds the others.
struct Activation {
  wire::TensorSpec spec;
  std::span<std::byte> bytes;        ///< exactly byte_size(spec) bytes, owned by `owner`; do not read a GPU's
  std::shared_ptr<void> owner;       ///< keeps the memory alive
  std::vector<Activation> others{};  ///< have no `others` of their own
  int gpu = -1;                      ///< number of the GPU that holds the memory; -1: host memory

  std::size_t tensors() const { return 1 + others.size(); }
  const Activation& tensor(std::size_t index) const { return index == 0 ? *this : others.at(index - 1); }
};

/// The tensors that cross a cut, in the order of their frames: 1 to experiment::kMostCrossing.
using Boundary = std::vector<wire::TensorSpec>;

/// How a stage computes: the settings that a deployment would choose. Recorded with every trial.
struct ComputeOptions {
  int threads = 1;              ///< intra-operator threads
  bool flush_denormals = true;  ///< treat denormal numbers as zero (they cost up to 35x)
  bool tune_malloc = true;      ///< keep freed activations in the process instead of faulting them in again
  std::string device = "cpu";   ///< that computes the blocks (experiment::parse_compute_device)
  bool operator==(const ComputeOptions&) const = default;
};
PARETOPIPE_JSON(ComputeOptions, threads, flush_denormals, tune_malloc, device)

/// Which model, with which weights, on which inputs.
struct ModelRequest {
  std::string model;  ///< e.g. "mobilenet_v2", "synthetic:5ms/2MB,3ms", the absolute path of an archive
  int num_classes = 10;
  int batch = 1;           ///< images that are computed at a time: those of a micro-batch, if batches are cut
  std::uint64_t seed = 1;  ///< of weights and of random inputs
  std::string data;        ///< as DataSource::request has it
  std::string weights{};   ///< file of the weights; empty: the weights are a function of the seed
  std::optional<experiment::Archive> archive{};  ///< if the model is a file
  experiment::ComputeMode compute{};
  std::string labels{};              ///< labels of the data's samples, as in DataSource::labels
  std::vector<int> cut_positions{};  ///< of an archive, as in its description; empty: not known yet
  int first_batch = 0;               ///< of inputs and labels; those before are left out
  std::uint64_t shuffle = 0;         ///< the order of the samples: their own, or drawn from this
  bool operator==(const ModelRequest&) const = default;
};
void to_json(nlohmann::json& json, const ModelRequest& request);
void from_json(const nlohmann::json& json, ModelRequest& request);

/// The spec of a tensor that crosses a cut in this mode: activations with four dimensions are in the mode's memory
/// order. The input and the result of the whole model are float32 and contiguous instead.
wire::TensorSpec activation_spec(const experiment::ComputeMode& mode, std::vector<std::int64_t> shape);

class TrainingPart;

/// Computes a stage's blocks: LibTorch does (compute/zoo, compute/archive), or the synthetic ground truth. The pipeline
/// around it knows nothing of models. All calls come from the thread that called `configure` first, except `decode` and
/// `allocate`: receive threads call them, too, possibly while `forward` runs. Errors are thrown as paretopipe::Error.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The models that `describe` and `load` know, for lists. A model with parameters is listed as a pattern.
  virtual std::vector<std::string> models() const = 0;

  /// Applies the options to the calling thread and the process. Returns the values actually applied, read back, and the
  /// identity of the compute library (version, BLAS, instruction set); the record takes them as they are. Throws
  /// EnvironmentError if there is no such device.
  virtual nlohmann::json configure(const ComputeOptions& options) = 0;

  /// The PCI address of the GPU that `forward` computes on, as CUDA writes it ("0000:3b:00.0"); empty on a CPU or if
  /// unknown.
  virtual std::string gpu_bus_address() const { return {}; }

  /// The model's blocks at the request's batch size. Does not need `load`. Throws UsageError if the request names a
  /// weights file that does not fit.
  virtual experiment::ModelDescription describe(const ModelRequest& request) = 0;

  /// Bytes of parameters and buffers of all held blocks, whether or not a trial uses them.
  virtual std::int64_t held_parameter_bytes() const = 0;

  /// Memory of the blocks of `range`, which must be held, and of what was prepared for them. Temporary tensors of the
  /// computation are not included. Nothing if the backend does not count them.
  virtual std::optional<host::StageMemory> memory_of(experiment::BlockRange) const { return std::nullopt; }

  /// Releases all blocks outside `range` and what was prepared for them, and returns their memory to the system.
  virtual void keep_only(experiment::BlockRange) {}

  /// Makes the blocks of `range` ready for `forward`. Keeps blocks of the same model (name, classes, seed, weights,
  /// mode) that are already held; drops those of another model.
  virtual void load(const ModelRequest& request, experiment::BlockRange range) = 0;

  /// Sets how many bytes `prepare` may keep for ranges that come again, of this model or another. The default is none:
  /// only the latest range is kept.
  virtual void keep_prepared(std::int64_t) {}

  /// Does everything else that is worth doing once before `forward` is called repeatedly for this range with
  /// activations of these specs. Afterwards no call takes longer than the others. May forget what was prepared for
  /// other ranges. The blocks must be loaded. Returns nothing if the backend has nothing to do.
  virtual std::optional<Preparation> prepare(experiment::BlockRange, const Boundary&) { return std::nullopt; }

  /// Makes `count` distinct batches of decoded, resized and normalised input for the request's model.
  virtual std::vector<Activation> make_inputs(const ModelRequest& request, int count) = 0;

  /// The classes of the first samples of these batches. Each sample of the data appears once, so there are fewer than
  /// `count` batches' worth if the data end earlier. Empty for a request without labels. Throws UsageError if the model
  /// cannot have labels, or if there are not as many labels as samples.
  virtual std::vector<std::int64_t> make_labels(const ModelRequest& request, int count);

  /// The blocks of `range` as they are before training, held apart from those of `load`. Throws UsageError for a model
  /// that cannot be trained, with the reason.
  virtual std::unique_ptr<TrainingPart> make_training_part(const ModelRequest& request, experiment::BlockRange range,
                                                           const experiment::Training& training);

  /// Allocates memory for one incoming tensor. The caller assembles an activation of several tensors.
  virtual Activation allocate(const wire::TensorSpec& spec) = 0;

  /// Runs the blocks of `range`, which must be loaded. An empty range returns `input` itself. Each tensor of the result
  /// is dense in the memory order that its spec states. May overwrite `input` unless the range begins with the first
  /// block, because the source reuses its inputs. The result may alias `input`.
  virtual Activation forward(experiment::BlockRange range, Activation input) = 0;

  /// Called once after `forward` and timed separately as "encode": makes the result dense and brings it to host memory.
  /// Must return its argument if there is nothing to do.
  virtual Activation encode(Activation output) = 0;

  /// The counterpart on the receiving side, timed as "decode".
  virtual Activation decode(Activation received) = 0;
};

}  // namespace paretopipe::stage
