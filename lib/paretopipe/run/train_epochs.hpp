#pragma once
#include <paretopipe/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace paretopipe::run {

/// The results of an epoch, which learns from every sample of the data once, except for those that fill no batch.
struct Epoch {
  int number = 0;  ///< from 1
  int of = 0;
  std::int64_t samples = 0;     ///< learned from
  std::int64_t of_samples = 0;  ///< when it is done
  double loss = 0;              ///< mean over its steps
  double accuracy = 0;          ///< share of samples whose class was its label's, before the step learned from it
  double seconds = 0;           ///< with the time to make the data ready
};

/// A parameter or buffer under its name in PyTorch's state_dict.
struct TrainedTensor {
  std::string name;
  wire::TensorSpec spec;
  std::vector<std::byte> bytes;
};

/// Fetches the weights from the stages, which takes time.
using FetchWeights = std::function<std::vector<TrainedTensor>()>;

struct EpochObserver {
  /// Called after every epoch. False ends the training.
  std::function<bool(const Epoch& epoch, const FetchWeights& weights)> done;
  /// Called now and then with the results of the epoch so far; may be empty.
  std::function<void(const Epoch& epoch)> progress{};
};

}  // namespace paretopipe::run
