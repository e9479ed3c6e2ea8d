#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/training_messages.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace paretopipe::stage {

/// The data of a training: some batches, which its steps take in turn.
class TrainingData {
 public:
  /// Makes the inputs, the labels or both. The labels are those of the data if the request has them, and start over
  /// after the last sample. Otherwise they are drawn from its seed. `first_step` is the step that takes the first of
  /// the batches. Throws UsageError for a label that is no class of the model, wire::ProtocolError for impossible
  /// numbers, and what the backend throws.
  TrainingData(const TrainingTask& task, bool with_inputs, bool with_labels, Backend& backend,
               std::size_t first_step = 0);

  /// Takes the inputs and the labels that are given, in place of those that were not made. Throws wire::ProtocolError
  /// for another number than the task's batches have.
  void take(std::vector<Activation> inputs, std::vector<std::int64_t> labels);

  /// All of them, in the order of the batches.
  const std::vector<Activation>& inputs() const { return inputs_; }
  const std::vector<std::int64_t>& labels() const { return labels_; }

  /// Releases the inputs of all micro-batches but `count` of each batch, from the batch's micro-batch `first` on.
  void keep_only(int first, int count);

  /// The micro-batch's input, whose memory stays as it is.
  const Activation& input(MicroBatch which) const { return inputs_.at(place_of(which)); }
  std::span<const std::int64_t> labels(MicroBatch which) const;

 private:
  std::size_t place_of(MicroBatch which) const {
    return (which.step - first_step_) % batches_ * micro_batches_ + which.index;
  }

  std::size_t first_step_;
  std::size_t batches_;
  std::size_t micro_batches_;
  std::size_t images_;  ///< of a micro-batch
  std::vector<Activation> inputs_;
  std::vector<std::int64_t> labels_;
};

/// The tensors that follow the request. Throws wire::ProtocolError for impossible numbers.
std::vector<wire::TensorSpec> tensors_of(const PrepareTraining& request);

}  // namespace paretopipe::stage
