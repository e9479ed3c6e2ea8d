#include <paretopipe/compute/torch/engine.hpp>
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/error.hpp>

#include "describe.hpp"
#include "layers.hpp"
#include "stored_weights.hpp"

namespace paretopipe::zoo {

namespace {

class Zoo final : public compute::BlockSource {
 public:
  std::vector<std::string> models() const override { return model_names(); }

  compute::Sample sample_of(const stage::ModelRequest& request) const override {
    const auto& model = find_model(request.model);
    return {model.sample_shape(), model.vocabulary};
  }

  experiment::ModelDescription describe(const stage::ModelRequest& request) const override {
    const auto& model = find_model(request.model);
    auto description = describe_model(model, request.num_classes, request.batch, request.compute);
    if (!request.weights.empty()) check_weights(model, request.num_classes, files::WeightsFile(request.weights));
    return description;
  }

  stage::ModelRequest identity(const stage::ModelRequest& request) const override {
    return {.model = request.model,
            .num_classes = request.num_classes,
            .seed = request.seed,
            .data = {},
            .weights = request.weights,
            .compute = request.compute};
  }

  compute::OpenModel open(const stage::ModelRequest& request) const override {
    const auto& model = find_model(request.model);
    if (request.num_classes < 1) {
      throw UsageError(fmt::format("a classifier has at least one class, not {}", request.num_classes));
    }
    return {model.block_count, [&model, request, plan = model.plan(request.num_classes)](int index) {
              const auto block = make_block(model, plan[static_cast<std::size_t>(index)], request);
              compute::HeldBlock held{block.forward, {}};
              for (const auto& entry : block.tensors) held.tensors.push_back(entry.tensor);
              return held;
            }};
  }

  std::unique_ptr<stage::TrainingPart> make_training_part(const stage::ModelRequest& request,
                                                          experiment::BlockRange range,
                                                          const experiment::Training& training) const override {
    const auto& model = find_model(request.model);
    const auto plan = model.plan(request.num_classes);
    std::vector<train::TrainableBlock> blocks;
    for (int index = range.begin; index < range.end; ++index) {
      const auto& own = plan.at(static_cast<std::size_t>(index));
      const c10::InferenceMode inference;
      blocks.push_back(trainable(make_block(model, own, request), model.name, own));
    }
    return train::make_torch_training_part(std::move(blocks), {range.begin, request.seed, training});
  }

  std::shared_ptr<torch::jit::Graph> graph_of(const std::vector<const compute::HeldBlock*>& blocks,
                                              const compute::Tensors& examples) const override {
    std::vector<Forward> forwards;
    for (const auto* block : blocks) forwards.emplace_back(block->run);
    return trace(chain(std::move(forwards)), examples);
  }

 private:
  /// Opens a weights file anew for every block, so that no more of it than one block's tensors is in memory.
  static Block make_block(const Model& model, const BlockPlan& plan, const stage::ModelRequest& request) {
    const auto mode = compute::mode_of_blocks(request.compute);
    if (request.weights.empty()) return build_block(model.name, plan, request.seed, mode);
    return build_block(model.name, plan, files::WeightsFile(request.weights), mode);
  }
};

}  // namespace

std::unique_ptr<stage::Backend> make_model_backend() {
  return compute::make_torch_backend(std::make_unique<Zoo>());
}

}  // namespace paretopipe::zoo
