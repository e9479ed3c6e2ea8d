#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <memory>

namespace paretopipe::stage {

/// One micro-batch of a batch (all of it, where batches are not cut), whatever tensors it is, on its way through a
/// stage.
struct Job {
  std::size_t sequence = 0;
  Activation activation;
  std::shared_ptr<void> lease;  ///< keeps the receive buffer from being overwritten; empty where there is none
};

}  // namespace paretopipe::stage
