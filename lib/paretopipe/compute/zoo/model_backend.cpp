#include <paretopipe/compute/torch/device.hpp>
#include <paretopipe/compute/torch/engine.hpp>
#include <paretopipe/compute/torch/inputs.hpp>
#include <paretopipe/compute/torch/runtime.hpp>
#include <paretopipe/compute/torch/tensors.hpp>
#include <paretopipe/compute/torch/with_libtorch.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/error.hpp>

#include <map>
#include <optional>

#include <malloc.h>

#include "block.hpp"
#include "describe.hpp"
#include "layers.hpp"
#include "stored_weights.hpp"
#include "zoo.hpp"

namespace paretopipe::zoo {

namespace {

/// The parts of a request that determine the blocks; batches and inputs do not.
stage::ModelRequest identity(const stage::ModelRequest& request) {
  return {.model = request.model,
          .num_classes = request.num_classes,
          .seed = request.seed,
          .data = {},
          .weights = request.weights,
          .compute = request.compute};
}

compute::Sample sample_of(const Model& model) {
  return {model.sample_shape(), model.vocabulary};
}

class ModelBackend : public stage::Backend, private compute::Blocks {
 public:
  std::vector<std::string> models() const override { return model_names(); }

  nlohmann::json configure(const stage::ComputeOptions& options) override {
    return compute::with_libtorch("configure LibTorch", [&] { return compute::configure_runtime(options); });
  }

  std::string gpu_bus_address() const override { return compute::bus_address(compute::device()); }

  experiment::ModelDescription describe(const stage::ModelRequest& request) override {
    return compute::with_libtorch("describe " + request.model, [&] {
      const auto& model = find_model(request.model);
      auto description = describe_model(model, request.num_classes, request.batch, request.compute);
      compute::check_data(sample_of(model), request);
      if (!request.weights.empty()) check_weights(model, request.num_classes, files::WeightsFile(request.weights));
      return description;
    });
  }

  std::int64_t held_parameter_bytes() const override { return engine_.held_bytes(); }

  std::optional<host::StageMemory> memory_of(experiment::BlockRange range) const override {
    if (!compute::device().is_cpu()) return std::nullopt;
    host::StageMemory memory;
    for (int i = range.begin; i < range.end; ++i) memory.weights_bytes += block(i).parameter_bytes();
    memory.prepared_bytes = engine_.program_bytes(range);
    return memory;
  }

  void keep_only(experiment::BlockRange range) override {
    std::erase_if(blocks_, [&](const auto& held) { return held.first < range.begin || held.first >= range.end; });
    engine_.keep_only(range);
    // malloc is tuned to keep freed memory and would otherwise hold it for good.
    malloc_trim(0);
  }

  void load(const stage::ModelRequest& request, experiment::BlockRange range) override {
    const auto& model = find_model(request.model);
    if (range.begin < 0 || range.begin > range.end || range.end > model.block_count) {
      throw UsageError(fmt::format("{} has blocks 0 to {}; there is no range [{}, {})", model.name,
                                   model.block_count - 1, range.begin, range.end));
    }
    if (request.num_classes < 1) {
      throw UsageError(fmt::format("a classifier has at least one class, not {}", request.num_classes));
    }
    compute::with_libtorch("load " + request.model, [&] { load_blocks(model, request, range); });
  }

  void keep_prepared(std::int64_t bytes) override { engine_.keep_at_most(bytes); }

  std::optional<Preparation> prepare(experiment::BlockRange range, const stage::Boundary& incoming) override {
    return compute::with_libtorch("optimise " + held_.model, [&] { return engine_.prepare(range, incoming); });
  }

  std::vector<stage::Activation> make_inputs(const stage::ModelRequest& request, int count) override {
    return compute::with_libtorch("make inputs for " + request.model, [&] {
      const auto& model = find_model(request.model);
      std::vector<stage::Activation> inputs;
      for (auto& batch : compute::make_input_batches(sample_of(model), request, count)) {
        inputs.push_back(compute::to_activation(std::move(batch)));
      }
      return inputs;
    });
  }

  std::vector<std::int64_t> make_labels(const stage::ModelRequest& request, int count) override {
    return compute::with_libtorch("read labels for " + request.model, [&] {
      return compute::make_labels(sample_of(find_model(request.model)), request, count);
    });
  }

  stage::Activation allocate(const wire::TensorSpec& spec) override {
    return compute::with_libtorch(
        "allocate " + wire::to_string(spec), [&] { return compute::allocate_activation(spec); }, ExitCode::environment);
  }

  /// The first block of every model leaves its input unchanged, so batches from `make_inputs` can be reused.
  stage::Activation forward(experiment::BlockRange range, stage::Activation input) override {
    if (range.empty()) return input;
    return compute::with_libtorch("compute " + held_.model, [&] { return engine_.forward(range, std::move(input)); });
  }

  /// `forward` returns dense activations, so nothing has to be done on the CPU.
  stage::Activation encode(stage::Activation output) override {
    return compute::with_libtorch("copy from the GPU", [&] { return compute::to_host(std::move(output)); });
  }
  stage::Activation decode(stage::Activation received) override {
    return compute::with_libtorch("copy to the GPU",
                                  [&] { return compute::to_device(std::move(received), compute::device()); });
  }

 private:
  compute::Tensors run(int index, compute::Tensors inputs) const override {
    return block(index).forward(std::move(inputs));
  }

  std::shared_ptr<torch::jit::Graph> graph_of(experiment::BlockRange range,
                                              const compute::Tensors& examples) const override {
    std::vector<Forward> blocks;
    for (int i = range.begin; i < range.end; ++i) blocks.push_back(block(i).forward);
    return trace(chain(std::move(blocks)), examples);
  }

  std::vector<at::Tensor> tensors() const override {
    std::vector<at::Tensor> tensors;
    for (const auto& [index, block] : blocks_) {
      for (const auto& entry : block.tensors) tensors.push_back(entry.tensor);
    }
    return tensors;
  }

  void load_blocks(const Model& model, const stage::ModelRequest& request, experiment::BlockRange range) {
    if (held_ != identity(request)) {
      blocks_.clear();
      held_ = identity(request);
      engine_.use(held_, model.block_count);
    }
    const auto plan = model.plan(request.num_classes);
    for (int i = range.begin; i < range.end; ++i) {
      if (!blocks_.contains(i)) blocks_.emplace(i, make_block(model, plan[static_cast<std::size_t>(i)], request));
    }
  }

  /// Opens a weights file anew for every block, so that no more of it than one block's tensors is in memory.
  static Block make_block(const Model& model, const BlockPlan& plan, const stage::ModelRequest& request) {
    const auto mode = compute::mode_of_blocks(request.compute);
    if (request.weights.empty()) return build_block(model.name, plan, request.seed, mode);
    return build_block(model.name, plan, files::WeightsFile(request.weights), mode);
  }

  /// The addresses of the held blocks' tensors, which programs of these blocks may share.
  std::unordered_set<const void*> addresses() const {
    std::unordered_set<const void*> addresses;
    for (const auto& [index, block] : blocks_) {
      for (const auto& tensor : block.tensors) addresses.insert(tensor.tensor.data_ptr());
    }
    return addresses;
  }

  const Block& block(int index) const {
    const auto found = blocks_.find(index);
    if (found == blocks_.end()) {
      throw Error(ExitCode::internal, fmt::format("block {} of {} is computed but was not loaded", index, held_.model));
    }
    return found->second;
  }

  stage::ModelRequest held_;
  std::map<int, Block> blocks_;
  compute::Engine engine_{*this};
};

}  // namespace

std::unique_ptr<stage::Backend> make_model_backend() {
  return std::make_unique<ModelBackend>();
}

}  // namespace paretopipe::zoo
