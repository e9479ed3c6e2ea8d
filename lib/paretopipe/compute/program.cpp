#include <paretopipe/compute/in_mode.hpp>
#include <paretopipe/compute/program.hpp>

#include <iterator>
#include <utility>

#include <torch/csrc/jit/ir/constants.h>

namespace paretopipe::compute {

Program::Program(std::shared_ptr<torch::jit::Graph> graph) : graph_(std::move(graph)), code_(graph_, "forward") {}

Tensors Program::run(Tensors inputs) const {
  torch::jit::Stack stack(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
  torch::jit::InterpreterState(code_).run(stack);
  Tensors outputs;
  for (auto& output : stack) outputs.push_back(std::move(output).toTensor());
  return outputs;
}

std::vector<at::Tensor> Program::tensors() const {
  std::vector<at::Tensor> tensors;
  for (auto* node : graph_->nodes()) {
    if (node->kind() == torch::jit::prim::ConstantMKLDNNTensor) tensors.push_back(node->t(torch::jit::attr::value));
    if (node->kind() != torch::jit::prim::Constant) continue;
    const auto value = torch::jit::toIValue(node->output());
    if (!value) continue;
    for (auto& tensor : tensors_in(*value)) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace paretopipe::compute
