#pragma once
#include <paretopipe/config/archive.hpp>
#include <paretopipe/config/compute_mode.hpp>
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/core/preparation.hpp>
#include <paretopipe/host/process_usage.hpp>
#include <paretopipe/wire/tensor_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::stage {

/// A tensor as the pipeline sees it: what it is, where its bytes are, and who keeps them alive. Where several tensors
/// cross a cut, the first of them, which holds the others.
struct Activation {
  wire::TensorSpec spec;
  std::span<std::byte> bytes;        ///< exactly byte_size(spec) bytes, owned by `owner`; a GPU's are not to be read
  std::shared_ptr<void> owner;       ///< the memory lives as long as this does
  std::vector<Activation> others{};  ///< which have none in turn
  int gpu = -1;                      ///< whose memory it is, by number; -1: the host's

  std::size_t tensors() const { return 1 + others.size(); }
  const Activation& tensor(std::size_t index) const { return index == 0 ? *this : others.at(index - 1); }
};

/// What crosses a cut, in the order of its frames: 1 to config::kMostCrossing tensors.
using Boundary = std::vector<wire::TensorSpec>;

/// How a stage is to compute; what a deployment would set. Recorded with every trial.
struct ComputeOptions {
  int threads = 1;              ///< intra-operator threads
  bool flush_denormals = true;  ///< treat denormal numbers as zero (they cost up to 35x)
  bool tune_malloc = true;      ///< keep freed activations in the process instead of faulting them in again
  std::string device = "cpu";   ///< that blocks are computed on (config::parse_compute_device)
  bool operator==(const ComputeOptions&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ComputeOptions, threads, flush_denormals, tune_malloc, device)

/// Which model, with which weights, on which inputs.
struct ModelRequest {
  std::string model;  ///< e.g. "mobilenet_v2", "synthetic:5ms/2MB,3ms", the absolute path of an archive
  int num_classes = 10;
  int batch = 1;           ///< images that are computed at a time: those of a micro-batch, where batches are cut
  std::uint64_t seed = 1;  ///< of weights and of random inputs
  std::string data;        ///< as DataSource::request has it
  std::string weights{};   ///< file that holds them; empty: they are a function of the seed
  std::optional<config::Archive> archive{};  ///< of a model that is a file
  config::ComputeMode compute{};
  std::string labels{};              ///< of the data's samples, as DataSource::labels has them
  std::vector<int> cut_positions{};  ///< of an archive, as its description has them; empty: to be found out
  bool operator==(const ModelRequest&) const = default;
};
void to_json(nlohmann::json& json, const ModelRequest& request);
void from_json(const nlohmann::json& json, ModelRequest& request);

/// A tensor that crosses a cut of a model that is computed so: activations with four dimensions in the mode's order.
/// The input and the result of the whole model are float32 and contiguous instead.
wire::TensorSpec activation_spec(const config::ComputeMode& mode, std::vector<std::int64_t> shape);

/// What computes inside a stage: LibTorch (lib/paretopipe/model), or the synthetic ground truth. The pipeline around it
/// knows nothing of models. All calls come from the thread that called `configure` first, except that `decode` comes
/// from the receive thread while `forward` may be running. Errors are thrown as paretopipe::Error.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The models that `describe` and `load` know, for lists; forms with parameters as a pattern.
  virtual std::vector<std::string> models() const = 0;

  /// Applies the options to the calling thread and the process. Returns what was really applied, read back, together
  /// with what identifies the compute library (version, BLAS, instruction set); it goes into the record as it is.
  /// Throws EnvironmentError where there is no such device.
  virtual nlohmann::json configure(const ComputeOptions& options) = 0;

  /// Where the GPU that `forward` computes on is, as CUDA says it ("0000:3b:00.0"); empty on a CPU, or where that is
  /// not known.
  virtual std::string gpu_bus_address() const { return {}; }

  /// The model's blocks at the request's batch size. Does not need `load`. Throws UsageError if the request names a
  /// file of weights that does not fit.
  virtual config::ModelDescription describe(const ModelRequest& request) = 0;

  /// Bytes of parameters and buffers of all blocks that are held, whether or not a trial uses them.
  virtual std::int64_t held_parameter_bytes() const = 0;

  /// What the blocks of `range`, which are held, take, and what was prepared for them. Tensors that live while they are
  /// computed are not in it. Nothing where the backend does not count these in tensor_bytes.hpp.
  virtual std::optional<host::StageMemory> memory_of(config::BlockRange) const { return std::nullopt; }

  /// Lets go of all blocks but those of `range`, and of what was prepared for any others; their memory is the system's
  /// again.
  virtual void keep_only(config::BlockRange) {}

  /// Makes the blocks of `range` ready for `forward`. Blocks of the same model (name, classes, seed, weights, mode)
  /// that are held already are kept as they are; another model's are dropped.
  virtual void load(const ModelRequest& request, config::BlockRange range) = 0;

  /// How many bytes `prepare` may keep for ranges that come again, of this model or another. Until it is called, none:
  /// only the latest range is kept.
  virtual void keep_prepared(std::int64_t) {}

  /// Whatever else is worth doing once before `forward` is called for this range again and again, with activations of
  /// these specs: after it, no call takes longer than the others. What was made ready for other ranges may be forgotten
  /// again. The blocks must be loaded. Nothing where the backend has nothing to do.
  virtual std::optional<Preparation> prepare(config::BlockRange, const Boundary&) { return std::nullopt; }

  /// `count` distinct batches of decoded, resized and normalised input for the request's model.
  virtual std::vector<Activation> make_inputs(const ModelRequest& request, int count) = 0;

  /// The classes of the first samples of these batches, each sample of the data once: fewer than `count` batches hold
  /// where the data end before. Nothing for a request without labels. Throws UsageError where there can be none, and
  /// where there are not as many as samples.
  virtual std::vector<std::int64_t> make_labels(const ModelRequest& request, int count);

  /// Memory for one incoming tensor. An activation of several is put together by the caller.
  virtual Activation allocate(const wire::TensorSpec& spec) = 0;

  /// Runs the blocks of `range`, which must be loaded. An empty range returns `input` itself. The result is dense in
  /// the memory order that its spec states, as are all of several. May overwrite `input` unless the range begins with
  /// the first block, for the source hands its inputs in again and again; the result may alias it.
  virtual Activation forward(config::BlockRange range, Activation input) = 0;

  /// Called once after `forward`, timed apart from it as "encode": whatever is needed to make the result dense, and to
  /// bring it to host memory. Must return its argument when there is nothing to do.
  virtual Activation encode(Activation output) = 0;

  /// The counterpart on the receiving side, timed as "decode".
  virtual Activation decode(Activation received) = 0;
};

}  // namespace paretopipe::stage
