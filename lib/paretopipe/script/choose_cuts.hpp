#pragma once
#include <paretopipe/script/cut.hpp>
#include <paretopipe/script/node_names.hpp>

#include <string>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// Chooses from `cuts`, which are in find_cuts' order, by `selection`:
///   all      every cut
///   unit     leaves out cuts inside a unit that implementations compute in one go: a convolution or matrix product,
///            the batch norm after it, and the activation after these or after a sum. Of a tensor and its views, whose
///            bytes are the same, keeps only the first.
///   modules  the results of the top module's children
///   PATTERN  cuts that match a shell pattern (fnmatch(3), where * also matches dots): the name of the operator, or of
///            a module whose result the value is
/// A cut that two tensors cross is chosen only if both meet this. A pattern must match the tensor computed last, or
/// label_of. Throws UsageError for a pattern that matches no cut.
std::vector<Cut> choose_cuts(const std::vector<Cut>& cuts, const std::string& selection, const NodeNames& names);

/// Names the operators whose results cross: "layer1.0.relu", "maxpool + layer1.0.relu".
std::string label_of(const Cut& cut, const NodeNames& names);

}  // namespace paretopipe::script
