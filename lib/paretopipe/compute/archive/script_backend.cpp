#include <paretopipe/compute/archive/script_backend.hpp>
#include <paretopipe/compute/torch/torch_backend.hpp>
#include <paretopipe/compute/torch/with_libtorch.hpp>
#include <paretopipe/core/error.hpp>

#include <malloc.h>

#include "chain.hpp"
#include "describe_archive.hpp"

namespace paretopipe::archive {

namespace {

class Archives final : public compute::BlockSource {
 public:
  std::vector<std::string> models() const override { return {"PATH.pt (a TorchScript archive, with --input CxHxW)"}; }

  compute::Sample sample_of(const stage::ModelRequest& request) const override {
    if (!request.archive) {
      throw UsageError(fmt::format("{} is asked for as an archive, without its input and SHA-256", request.model));
    }
    if (!request.weights.empty()) {
      throw UsageError(fmt::format("{} has weights of its own; leave the file {} out", request.model, request.weights));
    }
    if (request.batch < 1) throw UsageError(fmt::format("a batch has at least one sample, not {}", request.batch));
    return {request.archive->input_shape};
  }

  experiment::ModelDescription describe(const stage::ModelRequest& request) const override {
    return describe_archive(request);
  }

  /// The seed and the inputs do not matter.
  stage::ModelRequest identity(const stage::ModelRequest& request) const override {
    return {.model = request.model,
            .num_classes = 0,
            .batch = request.batch,
            .seed = 0,
            .data = {},
            .archive = request.archive,
            .compute = request.compute,
            .cut_positions = request.cut_positions};
  }

  compute::OpenModel open(const stage::ModelRequest& request) const override {
    // Returns the memory that preparing took to the system: malloc is tuned to keep freed memory and would hold it for
    // good.
    const auto close = [](Chain* chain) {
      delete chain;
      malloc_trim(0);
    };
    const std::shared_ptr<Chain> chain(new Chain(request), close);
    return {chain->block_count(), [chain](int index) {
              const auto block = chain->block(index);
              return compute::HeldBlock{[block](compute::Tensors inputs) { return block.run(std::move(inputs)); },
                                        block.tensors(), block.graph()};
            }};
  }

  /// The layers and their state are those of PyTorch after train().
  std::unique_ptr<stage::TrainingPart> make_training_part(const stage::ModelRequest& request,
                                                          experiment::BlockRange range,
                                                          const experiment::Training& training) const override {
    // A stage without blocks may be on a machine without the file.
    if (range.empty()) return train::make_torch_training_part({}, {range.begin, request.seed, training});
    std::vector<train::TrainableBlock> blocks;
    compute::with_libtorch("load " + request.model, [&] {
      const Chain chain(request);
      for (int index = range.begin; index < range.end; ++index) blocks.push_back(chain.trainable(index));
    });
    auto part = train::make_torch_training_part(std::move(blocks), {range.begin, request.seed, training});
    malloc_trim(0);
    return part;
  }

  /// Joins the blocks' operators in one graph, one block after the other.
  std::shared_ptr<torch::jit::Graph> graph_of(const std::vector<const compute::HeldBlock*>& blocks,
                                              const compute::Tensors&) const override {
    auto joined = std::make_shared<torch::jit::Graph>();
    std::vector<torch::jit::Value*> values;
    for (std::size_t i = 0; i < blocks.front()->graph->inputs().size(); ++i) values.push_back(joined->addInput());
    for (const auto* block : blocks) values = torch::jit::insertGraph(*joined, *block->graph, values);
    for (auto* value : values) joined->registerOutput(value);
    return joined;
  }
};

}  // namespace

std::unique_ptr<stage::Backend> make_script_backend() {
  return compute::make_torch_backend(std::make_unique<Archives>());
}

}  // namespace paretopipe::archive
