#pragma once
#include <paretopipe/model/block.hpp>
#include <paretopipe/model/zoo.hpp>
#include <paretopipe/weights/weights_file.hpp>

// Weights out of a file, instead of weights of a seed. A tensor of the file belongs to the one of the model that has
// the same name, which is torchvision's; it must have the same shape, and float32 where the model has it, or one of the
// halves (float16, bfloat16), which become float32 without a loss.
namespace paretopipe::model {

/// Compares the names, shapes and types of all of the model's tensors with those of the file; reads no tensor. Throws
/// one UsageError that counts and names what is missing, extra or of another shape or type. What only training uses may
/// be there or not: the counters of batch norms, and the auxiliary classifier of Inception.
void check_weights(const Model& model, std::int64_t num_classes, const weights::WeightsFile& file);

/// Builds one block with the file's tensors, brought into the mode, and touches no other tensor's bytes. Throws
/// UsageError for a tensor that does not fit, or whose bytes have another checksum than the file says. Call under
/// c10::InferenceMode.
Block build_block(std::string_view model, const BlockPlan& plan, const weights::WeightsFile& file,
                  const config::ComputeMode& mode = {});

}  // namespace paretopipe::model
