#pragma once
#include <paretopipe/config/compute_mode.hpp>
#include <paretopipe/script/archive_model.hpp>
#include <paretopipe/script/own_tensors.hpp>
#include <paretopipe/script/slice.hpp>
#include <paretopipe/stage/backend.hpp>

#include <vector>

namespace paretopipe::script {

/// An archive as a chain of blocks. A stage takes the blocks that it needs out of it and lets it go.
class Chain {
 public:
  /// Loads the request's archive and cuts it at the request's positions; where it names none, at those of
  /// describe_archive, which costs that much more. Call under c10::InferenceMode. Throws UsageError as these do, and
  /// for positions that are none of the archive's.
  explicit Chain(const stage::ModelRequest& request);

  int block_count() const { return static_cast<int>(boundaries_.size()) - 1; }

  /// With numbers of its own: it takes the memory of its parameters, and of nothing else of the archive. Blocks that
  /// share parameters share them still, if they come out of the same chain. Throws std::out_of_range for a block that
  /// there is not.
  Slice block(int index);

 private:
  ArchiveModel model_;
  config::ComputeMode mode_;     ///< of the blocks
  std::vector<Cut> boundaries_;  ///< the input, the chosen cuts, the output
  OwnTensors own_;
};

}  // namespace paretopipe::script
