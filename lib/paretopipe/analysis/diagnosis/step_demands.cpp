#include <paretopipe/analysis/diagnosis/step_demands.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>

namespace paretopipe::diagnosis {

namespace {

template <class Value>
double median_of(std::span<const record::TrialRecord* const> records, Value value) {
  std::vector<double> values;
  for (const auto* record : records) values.push_back(value(*record->summary->training));
  return *stats::median(std::move(values));
}

}  // namespace

double StepDemands::busy_ns(std::size_t stage) const {
  return stages[stage].forward_ns + stages[stage].backward_ns + stages[stage].update_ns;
}

std::size_t StepDemands::busiest() const {
  std::size_t most = 0;
  for (std::size_t stage = 1; stage < stages.size(); ++stage) {
    if (busy_ns(stage) > busy_ns(most)) most = stage;
  }
  return most;
}

double StepDemands::filling_ns() const {
  return std::max(0.0, bound_ns() - busy_ns(busiest()));
}

double StepDemands::beyond_ns() const {
  return std::max(0.0, interval_ns() - bound_ns());
}

StepDemands step_demands(std::span<const record::TrialRecord* const> records) {
  using Summary = record::TrainingSummary;
  StepDemands demands;
  demands.batch = records.front()->trial.batch;
  demands.sample_per_s = median_of(records, [](const Summary& one) { return one.sample_per_s; });
  demands.bound_sample_per_s = median_of(records, [](const Summary& one) { return one.bound_sample_per_s; });
  demands.bubble = median_of(records, [](const Summary& one) { return one.bubble; });
  demands.expected_bubble = median_of(records, [](const Summary& one) { return one.expected_bubble; });
  demands.stages.resize(records.front()->summary->training->stages.size());
  for (std::size_t stage = 0; stage < demands.stages.size(); ++stage) {
    for (const auto part : record::kStepParts) {
      demands.stages[stage].*part = median_of(records, [&](const Summary& one) { return one.stages[stage].*part; });
    }
  }
  return demands;
}

}  // namespace paretopipe::diagnosis
