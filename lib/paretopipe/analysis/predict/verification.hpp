#pragma once
#include <paretopipe/analysis/predict/prediction.hpp>
#include <paretopipe/record/record.hpp>

#include <span>
#include <vector>

namespace paretopipe::predict {

/// A split that was predicted and measured.
struct VerifiedSplit {
  std::vector<int> split_points{};
  PredictedSplit predicted{};
  double latency_ns = 0;              ///< measured: the medians over the repetitions
  double throughput_image_per_s = 0;  ///< likewise
  int repetitions = 0;

  /// What was predicted, less what was measured, as a share of the latter.
  double latency_error() const { return predicted.latency_ns.value / latency_ns - 1; }
  double throughput_error() const { return predicted.throughput_image_per_s.value / throughput_image_per_s - 1; }
};

/// How well profiles predict what was measured. Errors are without their signs, over both numbers of all splits.
struct Verification {
  std::vector<VerifiedSplit> splits{};  ///< at least one; by their split points
  double median_error = 0;
  double worst_error = 0;
};

/// Holds the question's predictions against records of the same model, batch, mode, number of stages, depth and
/// network; others are left out, and those of trials that failed, whose batches are cut, or that lack a phase. Throws
/// UsageError if none is left or if the question is about any order, and otherwise as predict() does.
Verification verify(const Question& question, std::span<const record::TrialRecord> records);

}  // namespace paretopipe::predict
