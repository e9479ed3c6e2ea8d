#include <paretopipe/stage/training_data.hpp>
#include <paretopipe/stage/training_memory.hpp>
#include <paretopipe/stage/training_part.hpp>
#include <paretopipe/wire/frame.hpp>

#include <cstring>
#include <memory>
#include <utility>

namespace paretopipe::stage {

namespace {

/// Tensors outside of what is counted, as if a link carried them.
class Parcel {
 public:
  Parcel() = default;
  explicit Parcel(const Activation& from) {
    for (std::size_t i = 0; i < from.tensors(); ++i) {
      const auto& tensor = from.tensor(i);
      specs_.push_back(tensor.spec);
      bytes_.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
    }
  }

  /// A copy in memory of the receiver's own.
  Activation unpacked(Backend& backend) const {
    Activation whole;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      if (bytes_[i].empty()) continue;
      auto tensor = backend.allocate(specs_[i]);
      std::memcpy(tensor.bytes.data(), bytes_[i].data(), bytes_[i].size());
      if (i == 0) {
        whole = std::move(tensor);
      } else {
        whole.others.push_back(std::move(tensor));
      }
    }
    return whole;
  }

 private:
  std::vector<wire::TensorSpec> specs_;
  std::vector<std::vector<std::byte>> bytes_;
};

constexpr std::size_t kCounted = 2;  ///< micro-batches of a step

/// The parts of a model, one behind the other.
class MeasuredTraining {
 public:
  MeasuredTraining(const MeasureTraining& request, Backend& backend)
      : backend_(backend), task_(request.task), data_(task_, true, true, backend), memory_(request.parts.size()) {
    for (const auto& blocks : request.parts) {
      parts_.push_back(backend.make_training_part(request.task.model, blocks, request.task.training));
    }
  }

  TrainingMeasured measure() {
    for (std::size_t step = 0; step < 2; ++step) train(step);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto bytes = parts_[i]->bytes();
      memory_[i].parameters = bytes.parameters;
      memory_[i].optimizer = bytes.optimizer;
    }
    return {std::move(memory_)};
  }

 private:
  void train(std::size_t step) {
    for (std::size_t index = 0; index < kCounted; ++index) forward({step, index});
    for (std::size_t index = 0; index < kCounted; ++index) backward({step, index});
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const TensorWatch watch;
      parts_[i]->update(learning_rate(task_, 0));
      memory_[i].most_update = watch.most();
      memory_[i].gradients = -watch.now();  // the update has used them up
    }
  }

  void forward(MicroBatch which) {
    Parcel crossing;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const TensorWatch watch;
      auto output = parts_[i]->forward(which, i == 0 ? data_.input({0, which.index}) : crossing.unpacked(backend_),
                                       experiment::Backward::later);
      if (i + 1 == parts_.size()) parts_[i]->loss(which, data_.labels({0, which.index}), 1.0 / kCounted);
      crossing = Parcel(output);
      output = {};
      memory_[i].most_forward = watch.most();
      memory_[i].stashed = watch.now();
    }
  }

  void backward(MicroBatch which) {
    Parcel crossing;
    for (auto i = parts_.size(); i-- > 0;) {
      const TensorWatch watch;
      auto gradient = parts_[i]->backward(which, crossing.unpacked(backend_));
      crossing = Parcel(gradient);
      gradient = {};
      (which.index == 0 ? memory_[i].most_first_backward : memory_[i].most_backward) = watch.most();
    }
  }

  Backend& backend_;
  const TrainingTask& task_;
  TrainingData data_;
  std::vector<std::unique_ptr<TrainingPart>> parts_;
  std::vector<experiment::PartMemory> memory_;
};

}  // namespace

TrainingMeasured measure_training(const MeasureTraining& request, Backend& backend) {
  if (request.parts.empty() || request.task.micro_batches != kCounted) {
    throw wire::ProtocolError("the driver asked for the memory of no parts, or of other than two micro-batches");
  }
  backend.keep_only({});
  return MeasuredTraining(request, backend).measure();
}

}  // namespace paretopipe::stage
