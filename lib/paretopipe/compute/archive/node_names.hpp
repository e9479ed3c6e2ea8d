#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::archive {

/// Describes an operator for a person, as far as known: "aten::conv2d in layer1.0.conv1 (code/__torch__/net.py:12)".
std::string describe_node(const torch::jit::Node& node);

/// "layer1.0" for "layer1.0.conv1"; empty for "layer1".
std::string parent_of(const std::string& path);

/// "layer1.0" contains itself and "layer1.0.conv1", not "layer1.01"; "" contains all.
bool contains_module(const std::string& path, const std::string& other);

/// Names for the operators of one graph.
class NodeNames {
 public:
  /// Reads the modules of all operators except constants. Refers to the graph's nodes.
  explicit NodeNames(torch::jit::Graph& graph);

  /// Throws std::out_of_range for a node of another graph.
  const std::string& path(const torch::jit::Node* node) const { return paths_.at(node); }

  /// Labels an operator by its module if that contains no other module, as most layers, otherwise by module and
  /// operator: "layer1.0.conv1", "layer1.0.add", "flatten".
  std::string label(const torch::jit::Node* node) const;

  /// A name for operators that are computed together, in order: their common module if it has no other operators,
  /// otherwise the labels of the first and the last, "conv1..relu". Constants, and operators that give no tensor, do
  /// not count.
  std::string name_of(const std::vector<const torch::jit::Node*>& nodes) const;

 private:
  /// True if all operators of the module are in `nodes`.
  bool is_whole_module(const std::string& path, const std::vector<const torch::jit::Node*>& nodes) const;

  std::unordered_map<const torch::jit::Node*, std::string> paths_;
};

}  // namespace paretopipe::archive
