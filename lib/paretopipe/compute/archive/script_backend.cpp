#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/torch/device.hpp>
#include <paretopipe/compute/torch/engine.hpp>
#include <paretopipe/compute/torch/inputs.hpp>
#include <paretopipe/compute/torch/runtime.hpp>
#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/core/error.hpp>

#include <map>
#include <optional>

#include <malloc.h>

#include "archive_model.hpp"
#include "chain.hpp"
#include "describe_archive.hpp"

namespace paretopipe::archive {

namespace {

class ScriptBackend final : public stage::Backend, private compute::Blocks {
 public:
  std::vector<std::string> models() const override { return {"PATH.pt (a TorchScript archive, with --input CxHxW)"}; }

  nlohmann::json configure(const stage::ComputeOptions& options) override {
    return guarded(ExitCode::internal, "configure LibTorch", [&] { return compute::configure_runtime(options); });
  }

  std::string gpu_bus_address() const override { return compute::bus_address(compute::device()); }

  experiment::ModelDescription describe(const stage::ModelRequest& request) override {
    check(request);
    return guarded(ExitCode::internal, "describe " + request.model, [&] {
      compute::check_data({request.archive->input_shape}, request);
      return describe_archive(request);
    });
  }

  std::int64_t held_parameter_bytes() const override { return engine_.held_bytes(); }

  std::optional<host::StageMemory> memory_of(experiment::BlockRange range) const override {
    if (!compute::device().is_cpu()) return std::nullopt;
    host::StageMemory memory;
    std::unordered_set<const void*> counted;
    for (int i = range.begin; i < range.end; ++i) memory.weights_bytes += add_tensors(block(i), counted);
    memory.prepared_bytes = engine_.program_bytes(range);
    return memory;
  }

  void keep_only(experiment::BlockRange range) override {
    std::erase_if(blocks_, [&](const auto& held) { return held.first < range.begin || held.first >= range.end; });
    engine_.keep_only(range);
    malloc_trim(0);
  }

  void load(const stage::ModelRequest& request, experiment::BlockRange range) override {
    check(request);
    if (held_ != identity(request)) {
      blocks_.clear();
      held_ = identity(request);
    }
    guarded(ExitCode::internal, "load " + request.model, [&] { load_blocks(request, range); });
  }

  void keep_prepared(std::int64_t bytes) override { engine_.keep_at_most(bytes); }

  std::optional<Preparation> prepare(experiment::BlockRange range, const stage::Boundary& incoming) override {
    return guarded(ExitCode::internal, "optimise " + held_->model, [&] { return engine_.prepare(range, incoming); });
  }

  std::vector<stage::Activation> make_inputs(const stage::ModelRequest& request, int count) override {
    check(request);
    return guarded(ExitCode::internal, "make inputs for " + request.model, [&] {
      std::vector<stage::Activation> inputs;
      for (auto& batch : compute::make_input_batches({request.archive->input_shape}, request, count)) {
        inputs.push_back(compute::to_activation(std::move(batch)));
      }
      return inputs;
    });
  }

  std::vector<std::int64_t> make_labels(const stage::ModelRequest& request, int count) override {
    check(request);
    return guarded(ExitCode::internal, "read labels for " + request.model,
                   [&] { return compute::make_labels({request.archive->input_shape}, request, count); });
  }

  stage::Activation allocate(const wire::TensorSpec& spec) override {
    return guarded(ExitCode::environment, "allocate " + wire::to_string(spec),
                   [&] { return compute::allocate_activation(spec); });
  }

  /// Blocks have no mutation, so no block changes its input.
  stage::Activation forward(experiment::BlockRange range, stage::Activation input) override {
    if (range.empty()) return input;
    return guarded(ExitCode::internal, "compute " + held_->model,
                   [&] { return engine_.forward(range, std::move(input)); });
  }

  /// `forward` returns dense activations, so nothing has to be done on the CPU.
  stage::Activation encode(stage::Activation output) override {
    return guarded(ExitCode::internal, "copy from the GPU", [&] { return compute::to_host(std::move(output)); });
  }
  stage::Activation decode(stage::Activation received) override {
    return guarded(ExitCode::internal, "copy to the GPU",
                   [&] { return compute::to_device(std::move(received), compute::device()); });
  }

 private:
  compute::Tensors run(int index, compute::Tensors inputs) const override {
    return block(index).run(std::move(inputs));
  }

  std::shared_ptr<torch::jit::Graph> graph_of(experiment::BlockRange range, const compute::Tensors&) const override {
    std::vector<const Slice*> slices;
    for (int i = range.begin; i < range.end; ++i) slices.push_back(&block(i));
    return join(slices);
  }

  std::vector<at::Tensor> tensors() const override {
    std::vector<at::Tensor> tensors;
    for (const auto& [index, block] : blocks_) {
      for (auto& tensor : block.tensors()) tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  /// Adds the addresses of the block's tensors to `counted` and returns the bytes of the new ones.
  static std::int64_t add_tensors(const Slice& block, std::unordered_set<const void*>& counted) {
    std::int64_t bytes = 0;
    for (const auto& tensor : block.tensors()) {
      if (counted.insert(tensor.data_ptr()).second) bytes += static_cast<std::int64_t>(tensor.nbytes());
    }
    return bytes;
  }

  static void check(const stage::ModelRequest& request) {
    if (!request.archive) {
      throw UsageError(fmt::format("{} is asked for as an archive, without its input and SHA-256", request.model));
    }
    if (!request.weights.empty()) {
      throw UsageError(fmt::format("{} has weights of its own; leave the file {} out", request.model, request.weights));
    }
    if (request.batch < 1) throw UsageError(fmt::format("a batch has at least one sample, not {}", request.batch));
  }

  /// The parts of a request that determine the blocks; seed and inputs do not.
  static stage::ModelRequest identity(const stage::ModelRequest& request) {
    return {.model = request.model,
            .num_classes = 0,
            .batch = request.batch,
            .seed = 0,
            .data = {},
            .archive = request.archive,
            .compute = request.compute,
            .cut_positions = request.cut_positions};
  }

  void load_blocks(const stage::ModelRequest& request, experiment::BlockRange range) {
    if (range.empty() || holds(range)) return;
    Chain chain(request);
    take_blocks(chain, range);
    // Returns the memory that preparing took to the system: malloc is tuned to keep freed memory and would hold it for
    // good.
    malloc_trim(0);
  }

  bool holds(experiment::BlockRange range) const {
    bool all = range.begin < range.end;
    for (int i = range.begin; i < range.end; ++i) all = all && blocks_.contains(i);
    return all;
  }

  void take_blocks(Chain& chain, experiment::BlockRange range) {
    const int count = chain.block_count();
    if (range.begin < 0 || range.begin > range.end || range.end > count) {
      throw UsageError(fmt::format("{} has blocks 0 to {}; there is no range [{}, {})", held_->model, count - 1,
                                   range.begin, range.end));
    }
    if (blocks_.empty()) engine_.use(*held_, count);
    for (int i = range.begin; i < range.end; ++i) {
      if (!blocks_.contains(i)) blocks_.emplace(i, chain.block(i));
    }
  }

  const Slice& block(int index) const {
    const auto found = blocks_.find(index);
    if (found == blocks_.end()) {
      throw Error(ExitCode::internal,
                  fmt::format("block {} of {} is computed but was not loaded", index, held_->model));
    }
    return found->second;
  }

  std::optional<stage::ModelRequest> held_;
  std::map<int, Slice> blocks_;
  compute::Engine engine_{*this};
};

}  // namespace

std::unique_ptr<stage::Backend> make_script_backend() {
  return std::make_unique<ScriptBackend>();
}

}  // namespace paretopipe::archive
