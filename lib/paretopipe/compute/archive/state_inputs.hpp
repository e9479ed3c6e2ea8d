#pragma once
#include <paretopipe/compute/torch/named_tensor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

// How a graph that is to be trained differs from a frozen one.
namespace paretopipe::archive {

/// A module's parameters and buffers as inputs of its graph, so that no pass computes ahead with what training will
/// change. The graph no longer counts how many batches a batch norm has seen (num_batches_tracked).
class StateInputs {
 public:
  /// Replaces every attribute in an inlined graph of the module: tensors of the state_dict by inputs, everything else
  /// by constants. Throws UsageError if a parameter is not float32, if none asks for gradients, and for an attribute
  /// that cannot be a constant.
  StateInputs(std::shared_ptr<torch::jit::Graph> graph, const torch::jit::Module& module);

  /// Makes constants of the inputs again. No pass may follow that computes with constants. Throws UsageError if the
  /// graph computes with a count of batches.
  void make_constants();

  /// The tensors of the state_dict under their names, except for buffers that are neither float32 nor int64, which
  /// become constants. A parameter learns if it asks for gradients, as in PyTorch.
  const std::vector<compute::NamedTensor>& tensors() const { return tensors_; }

 private:
  void add(const std::string& name, const at::Tensor& tensor, bool learnable);
  void resolve(torch::jit::Block& block);
  void resolve(torch::jit::Node& attribute);
  torch::jit::Value* constant_of(const c10::IValue& value, torch::jit::Node& attribute);
  bool is_count(const torch::jit::Value* value) const;

  std::shared_ptr<torch::jit::Graph> graph_;
  std::vector<compute::NamedTensor> tensors_;
  std::unordered_map<const void*, std::size_t> numbers_;                 ///< of tensors_, by address
  std::vector<torch::jit::Value*> inputs_;                               ///< of each tensor
  std::unordered_map<const torch::jit::Value*, c10::IValue> modules_{};  ///< the modules that these values are
};

/// The index of the operator's input that says if it computes as in training (batch norms, dropouts, recurrent layers);
/// none for other operators.
std::optional<std::size_t> training_flag(const torch::jit::Node& node);

/// Sets the training flags of all operators.
void switch_to_training(torch::jit::Graph& graph);

/// Throws UsageError if an operator has a weight that is a constant, or a batch norm does not average its statistics:
/// what is computed would not learn.
void check_weights(const torch::jit::Graph& graph);

/// The name of the count of batches beside a running mean of that name; empty for other names.
std::string count_beside(const std::string& running_mean);

}  // namespace paretopipe::archive
