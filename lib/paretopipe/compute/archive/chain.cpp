#include "chain.hpp"

#include <paretopipe/compute/torch/engine.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <functional>

#include "describe_archive.hpp"

namespace paretopipe::archive {

namespace {

void check_positions(const std::vector<int>& positions, const ArchiveModel& model) {
  const auto last = static_cast<int>(model.cuts.size()) - 1;
  const bool rising = std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()) == positions.end();
  if (rising && positions.front() >= 0 && positions.back() == last) return;
  throw UsageError("the archive is to be cut where it cannot be");
}

}  // namespace

Chain::Chain(const stage::ModelRequest& request)
    : model_(load_archive(request.model, request.archive.value())),
      mode_(compute::mode_of_blocks(request.compute)),
      own_(model_.file) {
  const auto positions =
      request.cut_positions.empty() ? describe_archive(request).cut_positions : request.cut_positions;
  check_positions(positions, model_);
  boundaries_.push_back({model_.prepared.graph->inputs().at(0)});
  for (const int position : positions) boundaries_.push_back(model_.cuts[static_cast<std::size_t>(position)]);
  if (request.archive->trained) owners_ = owners_of_state(model_.prepared, boundaries_);
}

compute::Program Chain::block(int index) {
  const auto begin = static_cast<std::size_t>(index);
  auto block = slice(*model_.prepared.graph, boundaries_.at(begin), boundaries_.at(begin + 1), mode_, &own_);
  model_.forget_file();
  return block;
}

train::TrainableBlock Chain::trainable(int index) const {
  const auto begin = static_cast<std::size_t>(index);
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    if (owners_[i] == begin) own.push_back(i);
  }
  return trainable_block(model_.prepared, boundaries_.at(begin), boundaries_.at(begin + 1), own);
}

}  // namespace paretopipe::archive
