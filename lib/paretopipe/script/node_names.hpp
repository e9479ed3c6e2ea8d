#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// "layer1.0.conv1": the path of the author's module that the operator was inlined from, as attributes of the archive's
/// top module; empty for an operator of the top module itself.
std::string module_path(const torch::jit::Node& node);

/// "aten::conv2d in layer1.0.conv1 (code/__torch__/net.py:12)", as much as is known, for a person.
std::string describe_node(const torch::jit::Node& node);

/// "layer1.0" of "layer1.0.conv1"; empty of "layer1".
std::string parent_of(const std::string& path);

/// "layer1.0" contains itself and "layer1.0.conv1", not "layer1.01"; "" contains all.
bool contains_module(const std::string& path, const std::string& other);

/// Names for the operators of one graph.
class NodeNames {
 public:
  /// Reads the modules of all operators but constants; refers to the graph's nodes.
  explicit NodeNames(torch::jit::Graph& graph);

  /// Throws std::out_of_range for a node of another graph.
  const std::string& path(const torch::jit::Node* node) const { return paths_.at(node); }

  /// The module where it has none within, as most layers; the module and the operator elsewhere: "layer1.0.conv1",
  /// "layer1.0.add", "flatten".
  std::string label(const torch::jit::Node* node) const;

  /// A name for operators that are computed together, in order: their module, if that has no others; else the labels of
  /// the first and the last, "conv1..relu". Constants, and what gives no tensor, do not count.
  std::string name_of(const std::vector<const torch::jit::Node*>& nodes) const;

 private:
  /// Whether the module has no operators but `nodes`.
  bool is_whole_module(const std::string& path, const std::vector<const torch::jit::Node*>& nodes) const;

  std::unordered_map<const torch::jit::Node*, std::string> paths_;
};

}  // namespace paretopipe::script
