#include <paretopipe/analysis/predict/verification.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::predict {

namespace {

/// The measured numbers of the repetitions of a split.
struct Samples {
  std::vector<double> latency_ns{};
  std::vector<double> throughput{};
};

bool answers(const Question& question, const record::TrialRecord& record) {
  const auto& trial = record.trial;
  const auto& profile = question.profiles.front();
  const auto network = question.network.value_or(experiment::NetworkProfile{});
  const auto conditions = [](const auto& of) { return std::pair(of.forward, of.backward); };
  return record.status == record::Status::ok && record.summary && record.summary->latency &&
         record.summary->throughput_image_per_s && trial.data_parallel == 0 && trial.micro_batches() == 1 &&
         trial.codec == codec::kNone && trial.model == profile.model.model && trial.archive == profile.model.archive &&
         trial.batch == profile.model.batch && trial.compute == profile.mode &&
         trial.block_count == profile.model.block_count() && trial.stage_count() == stages_of(question) &&
         trial.depth == question.depth && conditions(trial.network) == conditions(network);
}

std::map<std::vector<int>, Samples> collect(const Question& question, std::span<const record::TrialRecord> records) {
  std::map<std::vector<int>, Samples> splits;
  for (const auto& record : records) {
    if (!answers(question, record)) continue;
    auto& samples = splits[record.trial.split_points];
    samples.latency_ns.push_back(record.summary->latency->p50_ns);
    samples.throughput.push_back(*record.summary->throughput_image_per_s);
  }
  return splits;
}

}  // namespace

Verification verify(const Question& question, std::span<const record::TrialRecord> records) {
  if (question.any_order) throw UsageError("what was measured has an order of devices: leave --any-order out");
  if (question.profiles.empty()) predict(question);  // says what is missing
  Verification verification;
  std::vector<double> errors;
  const auto measured = collect(question, records);
  std::vector<std::vector<int>> splits;
  for (const auto& [split, samples] : measured) splits.push_back(split);
  const auto predictions = predict_splits(question, splits);
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const auto& samples = measured.at(splits[i]);
    verification.splits.push_back({splits[i], predictions[i], *stats::median(samples.latency_ns),
                                   *stats::median(samples.throughput), static_cast<int>(samples.latency_ns.size())});
    errors.push_back(std::abs(verification.splits.back().latency_error()));
    errors.push_back(std::abs(verification.splits.back().throughput_error()));
  }
  if (errors.empty()) {
    const auto& model = question.profiles.front().model;
    throw UsageError(fmt::format(
        "compare predictions with what was measured: none of the {} trials is ok and of {} at batch {} in {} stages, "
        "with {} batches in flight, in the profiles' mode, over {}; give the --depth and the --network of the sweep",
        records.size(), model.model, model.batch, stages_of(question), question.depth,
        question.network ? question.network->name : "no network"));
  }
  verification.worst_error = *std::max_element(errors.begin(), errors.end());
  verification.median_error = *stats::median(std::move(errors));
  return verification;
}

}  // namespace paretopipe::predict
