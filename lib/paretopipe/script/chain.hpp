#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/script/measure.hpp>
#include <paretopipe/script/node_names.hpp>
#include <paretopipe/script/prepare.hpp>
#include <paretopipe/script/slice.hpp>
#include <paretopipe/stage/backend.hpp>

#include <vector>

namespace paretopipe::script {

/// An archive as a chain of blocks, for one batch size. Holds the whole archive: a stage takes the slices that it needs
/// out of it and lets it go.
class Chain {
 public:
  /// Checks and loads the request's file, finds its cuts, and runs it once on zeros, in eager mode with the
  /// request's type and memory format. A value that a link cannot carry unchanged (another type, or numbers that do not
  /// lie densely in that order) is no cut. Call under c10::InferenceMode. Throws UsageError for a file that is not the
  /// one of the request's SHA-256, that is no archive or cannot be cut, that refuses the batch, or whose result is not
  /// one row for each sample.
  explicit Chain(const stage::ModelRequest& request);

  const config::ModelDescription& description() const { return description_; }

  /// Throws std::out_of_range for a block that there is not.
  Slice block(int index) const;

 private:
  void describe_blocks(const std::vector<Cut>& cuts, const std::vector<Measured>& measured, const NodeNames& names);

  PreparedModel model_;
  config::ComputeMode mode_;
  std::vector<Cut> boundaries_;  ///< the input, the chosen cuts, the output
  config::ModelDescription description_;
};

}  // namespace paretopipe::script
