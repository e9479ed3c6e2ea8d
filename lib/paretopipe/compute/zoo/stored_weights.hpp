#pragma once
#include <paretopipe/compute/files/weights_file.hpp>

#include "block.hpp"
#include "zoo.hpp"

// Weights from a file instead of a seed. A tensor of the file belongs to the model's tensor with the same name, which
// is torchvision's. It must have the same shape. Where the model has float32, the file may also have float16 or
// bfloat16, which convert without loss.
namespace paretopipe::zoo {

/// Compares the names, shapes and types of all of the model's tensors with those of the file, without reading any
/// tensor. Throws one UsageError that counts and names what is missing, extra, or of another shape or type. Tensors
/// that only training uses are optional: the counters of batch norms, and Inception's auxiliary classifier.
void check_weights(const Model& model, std::int64_t num_classes, const files::WeightsFile& file);

/// Builds one block with the file's tensors, converted to the mode, and reads no other tensor's bytes. Throws
/// UsageError for a tensor that does not fit or does not match its checksum. Call under c10::InferenceMode.
Block build_block(std::string_view model, const BlockPlan& plan, const files::WeightsFile& file,
                  const experiment::ComputeMode& mode = {});

}  // namespace paretopipe::zoo
