#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <memory>

namespace paretopipe::stage {

/// One micro-batch, with all its tensors, on its way through a stage. If batches are not cut, it is a whole batch.
struct Job {
  std::size_t sequence = 0;
  Activation activation;
  std::shared_ptr<void> lease;  ///< keeps the receive buffer from being overwritten; empty if there is none
};

}  // namespace paretopipe::stage
