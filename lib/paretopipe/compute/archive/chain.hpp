#pragma once
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/stage/backend.hpp>

#include <vector>

#include "archive_model.hpp"
#include "slice.hpp"
#include "trainable.hpp"

namespace paretopipe::archive {

/// An archive as a chain of blocks. A stage takes the blocks that it needs and then releases the archive.
class Chain {
 public:
  /// Loads the request's archive and cuts it at the request's positions. If the request names none, uses those of
  /// describe_archive, at its extra cost. Throws UsageError as these do, and for positions that the archive does not
  /// have. Call under c10::InferenceMode.
  explicit Chain(const stage::ModelRequest& request);

  int block_count() const { return static_cast<int>(boundaries_.size()) - 1; }

  /// Makes a block with its own parameters. It takes the memory of these and of nothing else in the archive. Blocks
  /// that share parameters still share them if they come from the same chain. Throws std::out_of_range if there is no
  /// such block.
  compute::Program block(int index);

  /// Makes a block of an archive that is to be trained (experiment::Archive::trained). Its tensors stay in the archive
  /// until a training part takes the block and copies them.
  train::TrainableBlock trainable(int index) const;

 private:
  ArchiveModel model_;
  experiment::ComputeMode mode_;  ///< of the blocks
  std::vector<Cut> boundaries_;   ///< the input, the chosen cuts, the output
  OwnTensors own_;
  std::vector<std::size_t> owners_{};  ///< owners_of_state, if it is to be trained
};

}  // namespace paretopipe::archive
