#pragma once
#include <paretopipe/analysis/predict/prediction.hpp>
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::predict {

/// A part of a pipeline, as predicted and as measured.
struct PartTimes {
  std::string part{};  ///< "compute of stage 1"
  double predicted_ns = 0;
  double measured_ns = 0;

  /// What the model of the pipeline has not foreseen.
  double missed_ns() const { return measured_ns - predicted_ns; }
};

/// A split that was predicted and measured.
struct VerifiedSplit {
  experiment::Cut cut{};
  PredictedSplit predicted{};
  double latency_ns = 0;              ///< measured: the medians over the repetitions
  double throughput_image_per_s = 0;  ///< likewise
  int repetitions = 0;
  /// The parts of the latency with one batch in flight: each stage, its coding if there is a codec, each link, and the
  /// rest, which is waiting. `under_load`: the compute at depth of the stage that is predicted to be the bottleneck.
  /// Medians over the repetitions. Parts of which the records say nothing are left out.
  std::vector<PartTimes> latency_parts{};
  std::optional<PartTimes> under_load{};

  /// The predicted value less the measured one, as a share of the measured one.
  double latency_error() const { return predicted.latency_ns.value / latency_ns - 1; }
  double throughput_error() const { return predicted.throughput_image_per_s.value / throughput_image_per_s - 1; }

  /// The part that differs most of those whose difference has the latency's direction; null if there is none.
  const PartTimes* most_missed() const;
};

/// How well profiles predict what was measured. Errors are absolute, over both numbers of all splits.
struct Verification {
  std::vector<VerifiedSplit> splits{};  ///< at least one; by their split points and codecs
  double median_error = 0;
  double worst_error = 0;
  double in_band = 0;  ///< share of both numbers of all splits that are within their bands
};

/// Compares the question's predictions with records of the same model, batch, mode, threads, codecs, number of stages,
/// depth, placement and network. Others are left out, and those of trials that failed, whose batches are cut, or that
/// lack a phase. Limits of memory, which are of choices, mean nothing. Throws UsageError if none is left or if the
/// question is about any order, and otherwise as predict() does.
Verification verify(Question question, std::span<const record::TrialRecord> records);

/// The same question over each network that records of its splits have: all that can be verified with these records.
std::vector<Question> questions_of(const Question& question, std::span<const record::TrialRecord> records);

/// The question with the placement and the kind of shaping that records over its network have.
Question as_measured(Question question, std::span<const record::TrialRecord> records);

/// True if they are about the same network, whatever its name, and whatever shapes it.
bool same_network(const Question& one, const Question& other);

/// True if a trial's result answers the question: the same model, batch, mode, threads, number of stages, depth,
/// placement and network, and one of the codecs.
bool concerns(const Question& question, const experiment::Trial& trial);

/// What was asked, and what came of it.
struct VerifiedGroup {
  Question question{};
  Verification verification{};
};

/// Compares these profiles with every group of records that they can predict, with the stages, depth and network of
/// each. Empty if there is none. Throws UsageError for profiles that do not go together.
std::vector<VerifiedGroup> verify_all(const std::vector<Profile>& profiles,
                                      std::span<const record::TrialRecord> records);

}  // namespace paretopipe::predict
