#pragma once
#include <paretopipe/script/cut.hpp>
#include <paretopipe/script/node_names.hpp>

#include <string>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// Those of `cuts` (in order, as find_cuts gives them) that `selection` asks for:
///   all      every one
///   unit     without those between a convolution or matrix product, the batch norm behind it and the activation behind
///            these or behind a sum, which implementations compute in one go; and of a tensor and its views, whose
///            bytes are the same, only the first
///   modules  the results of the top module's children
///   PATTERN  those that it fits as a shell's would (fnmatch(3), where * also takes dots): the name of the operator,
///            or of a module whose result the value is
/// Of a cut that two tensors cross, both must be so; a pattern has to fit the one that is computed last, or label_of.
/// Throws UsageError for a pattern that fits none.
std::vector<Cut> choose_cuts(const std::vector<Cut>& cuts, const std::string& selection, const NodeNames& names);

/// "layer1.0.relu", "maxpool + layer1.0.relu": the operators that give what crosses.
std::string label_of(const Cut& cut, const NodeNames& names);

}  // namespace paretopipe::script
