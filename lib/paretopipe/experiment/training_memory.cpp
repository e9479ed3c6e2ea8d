#include <paretopipe/experiment/training_memory.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace paretopipe::experiment {

namespace {

/// The tensors of a stage while it trains, without its weights and its optimiser's state.
class Held {
 public:
  explicit Held(const PartMemory& part) : part_(part) {}

  void act(const Action& action) {
    switch (action.kind) {
      case Action::Kind::forward:
        reach(part_.most_forward);
        version_of_[action.micro_batch] = version_;
        break;
      case Action::Kind::backward:
        reach(has_gradients_ ? part_.most_backward : part_.most_first_backward);
        has_gradients_ = true;
        version_of_.erase(action.micro_batch);
        break;
      case Action::Kind::reduce:
        reach(part_.gradients);  // they are moved into one tensor
        break;
      case Action::Kind::update:
        // Micro-batches in flight keep the weights of their forwards.
        if (!version_of_.empty()) ++version_;
        reach(part_.most_update);
        has_gradients_ = false;
        break;
    }
  }

  std::int64_t most() const { return most_; }
  int most_versions() const { return most_versions_; }

 private:
  int versions() const {
    std::set<int> alive{version_};
    for (const auto& [micro_batch, version] : version_of_) alive.insert(version);
    return static_cast<int>(alive.size());
  }

  void reach(std::int64_t more) {
    most_versions_ = std::max(most_versions_, versions());
    const auto in_flight = static_cast<std::int64_t>(version_of_.size());
    const auto copies = (versions() - 1) + (has_gradients_ ? 1 : 0);
    most_ = std::max(most_, in_flight * part_.stashed + copies * part_.gradients + more);
  }

  const PartMemory& part_;
  std::map<int, int> version_of_;  ///< of each micro-batch in flight
  int version_ = 0;
  bool has_gradients_ = false;
  std::int64_t most_ = 0;
  int most_versions_ = 1;
};

}  // namespace

StageNeed predict_memory(std::span<const Action> actions, const PartMemory& part) {
  Held held(part);
  for (const auto& action : actions) held.act(action);
  return {most_in_flight(actions), held.most_versions(), part.parameters + part.optimizer + held.most()};
}

}  // namespace paretopipe::experiment
