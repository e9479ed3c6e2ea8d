#pragma once
#include <paretopipe/stage/backend.hpp>

#include <memory>
#include <string>
#include <vector>

// Real networks on LibTorch. This header is the folder's only public one and needs no LibTorch header.
//
//   zoo             the table of models; alexnet … roberta contain one architecture each, as a list of block plans
//   block, layers   a block is built alone, from its name, and owns tensors with torchvision's state_dict names
//   stored_weights  weights from a file, by name; compute/files reads it
//   describe        one run of the chain: shapes, bytes, parameters, multiply-accumulates; blocks as a graph
//
// Without a weights file, every weight is a hash of (seed, model, tensor name, index): the same on every machine and in
// every release (compute/torch/samples.hpp).
namespace paretopipe::zoo {

/// Makes the backend for these models (compute::make_torch_backend).
std::unique_ptr<stage::Backend> make_model_backend();

/// The models that the backend knows, in the order of the table: "alexnet", "vgg16", …
std::vector<std::string> model_names();

}  // namespace paretopipe::zoo
