#pragma once
#include <paretopipe/compute/torch/named_tensor.hpp>
#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/compute/train/torch_training_part.hpp>
#include <paretopipe/experiment/compute_mode.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::zoo {

using compute::NamedTensor;

/// How the weights of a layer are scaled. All are uniform distributions with the variance of the scheme in the name.
/// Biases are as small as PyTorch's for `pytorch_default` and zero for the others.
enum class Scheme {
  pytorch_default,  ///< variance 1 / (3 fan_in), as in torch.nn's constructors
  he_fan_in,        ///< variance 2 / fan_in (He et al., "Delving deep into rectifiers", ICCV 2015)
  he_fan_out,       ///< variance 2 / fan_out, as torchvision initialises ResNet and VGG
  bert,             ///< standard deviation 0.02 (Devlin et al., arXiv:1810.04805)
  small,            ///< standard deviation 0.01, as torchvision initialises the classifiers of VGG and MobileNetV2
};

/// Where a layer gets its tensors: a place in the tree of names, and the weights that fill them. Refers to a list that
/// must outlive it.
class Scope {
 public:
  /// The root. Without a seed all parameters are zero, which is enough to describe a model and several times faster.
  /// Tensors have the mode's type and memory format.
  Scope(std::string_view model, std::optional<std::uint64_t> seed, const experiment::ComputeMode& mode,
        std::vector<NamedTensor>& tensors)
      : model_(model), seed_(seed), mode_(mode), tensors_(&tensors) {}

  /// The root for training: layers get these tensors, in the order in which they ask for them, and behave as in
  /// torch.nn after train().
  Scope(std::string_view model, std::span<const at::Tensor>& given) : model_(model), given_(&given) {}

  bool training() const { return given_ != nullptr; }

  /// The child with that name, e.g. scope / "layer1.0" / "conv1".
  Scope operator/(std::string_view child) const;

  /// The layer's "weight", uniform with the scheme's variance. The first dimension is the output's, the second the
  /// input's.
  at::Tensor weight(at::IntArrayRef shape, Scheme scheme) const;

  /// The "bias" of the layer whose weight has that shape.
  at::Tensor bias(at::IntArrayRef weight_shape, Scheme scheme) const;

  /// A parameter that is neither a layer's weight nor its bias, uniform with that standard deviation.
  at::Tensor parameter(std::string_view name, at::IntArrayRef shape, double deviation) const;

  at::Tensor constant_parameter(std::string_view name, std::int64_t size, float value) const;
  at::Tensor constant_buffer(std::string_view name, std::int64_t size, float value) const;

  /// A scalar int64 zero, such as "num_batches_tracked".
  at::Tensor counter_buffer(std::string_view name) const;

 private:
  at::Tensor uniform(std::string_view name, at::IntArrayRef shape, double bound) const;
  at::Tensor filled(std::string_view name, std::int64_t size, float value, bool learnable) const;
  at::Tensor add(std::string_view name, at::Tensor tensor, bool learnable) const;
  at::Tensor next_given() const;

  std::string_view model_;
  std::optional<std::uint64_t> seed_{};
  experiment::ComputeMode mode_{};
  std::vector<NamedTensor>* tensors_ = nullptr;
  std::span<const at::Tensor>* given_ = nullptr;  ///< those that no layer has got yet
  std::string prefix_;                            ///< "" or ends in a dot
};

/// A function of one tensor. May overwrite its argument.
using Layer = std::function<at::Tensor(at::Tensor)>;

/// What a block computes: the tensors that cross the cut after it, from those that cross the cut before it. May
/// overwrite its arguments. In models where a single tensor crosses, a Layer converts to a Forward.
class Forward {
 public:
  using OfAll = std::function<compute::Tensors(compute::Tensors)>;

  Forward() = default;
  Forward(OfAll forward) : forward_(std::move(forward)) {}
  Forward(Layer layer)
      : forward_([layer = std::move(layer)](compute::Tensors crossing) -> compute::Tensors {
          return {layer(std::move(crossing.front()))};
        }) {}

  compute::Tensors operator()(compute::Tensors crossing) const { return forward_(std::move(crossing)); }

 private:
  OfAll forward_;
};

/// How to make one block. Plans are cheap; nothing is allocated before `build`.
struct BlockPlan {
  std::string name;  ///< torchvision's name of the module, or "stem" or "head"
  std::function<Forward(const Scope& root)> build;
};

/// A plan for a block whose tensors' names begin with the block's name: `build` gets the scope root / name.
BlockPlan named_block(std::string name, std::function<Forward(const Scope&)> build);

/// Adds such a plan, named by its place in the chain: "features.0", "features.1", …
void add_feature(std::vector<BlockPlan>& plan, std::function<Forward(const Scope&)> build);

/// One block, ready to run. Copies share their tensors.
struct Block {
  std::string name;
  Forward forward;
  std::vector<NamedTensor> tensors;

  std::int64_t parameters() const;       ///< number of learnable parameters
  std::int64_t parameter_bytes() const;  ///< of parameters and buffers
};

/// Builds one block, independently of all others. Its weights depend only on seed, model, tensor name and shape;
/// without a seed they are zero. They have the mode's type and memory format. Call under c10::InferenceMode.
Block build_block(std::string_view model, const BlockPlan& plan, std::optional<std::uint64_t> seed,
                  const experiment::ComputeMode& mode = {});

/// The block that was built by this plan, for training. `model` must outlive it.
train::TrainableBlock trainable(Block block, std::string_view model, const BlockPlan& plan);

}  // namespace paretopipe::zoo
