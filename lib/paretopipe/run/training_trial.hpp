#pragma once
#include <paretopipe/run/finish_record.hpp>
#include <paretopipe/run/unsplit_models.hpp>
#include <paretopipe/stage/training_messages.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::run {

// A trial that trains. Its stages first train for a few steps. The resulting weights are compared, bit for bit, with
// those of one process that did the same. Then the stages train for the steps that are measured. With a lossy codec no
// weight can be equal, so the process trains for all of these steps, 1000 at most, and losses are compared.

inline constexpr int kVerifiedSteps = 2;

/// What the stages train, for a model at the size of a micro-batch.
stage::TrainingTask training_task(const experiment::Trial& trial, stage::ModelRequest model);

TrainingQuestion training_question(const experiment::Trial& trial, const UnsplitSetup& setup,
                                   const stage::ModelRequest& model);

/// One request for each stage that takes part.
std::vector<stage::PrepareTraining> training_requests(const experiment::Trial& trial, const stage::TrainingTask& task);
std::vector<stage::Train> train_requests(const experiment::Trial& trial, const TrainingAnswer& answer,
                                         std::uint32_t tag, int steps, bool verified = false);

/// The share by which the losses of the verified steps may differ from those of one process. CPUs of several kinds sum
/// in different orders. 0: neither losses nor weights may differ.
double loss_tolerance(const experiment::Trial& trial, const std::vector<stage::Configured>& stages,
                      const stage::Configured& unsplit);

/// The reason why the verified steps gave the stages other weights or losses than one process; none if they did not.
std::optional<record::Failure> check_training(const std::vector<stage::TrainReport>& reports,
                                              const stage::TrainingReference& reference, double tolerance);

/// What was observed of a trial that trains. The vectors have one entry for each participating stage.
struct TrainingEvidence {
  TrialEvidence trial{};  ///< without reports
  std::vector<stage::TrainReport> reports{};
  std::optional<record::LossyTraining> lossy{};
};

/// Does what finish_record() does, for a trial that trains.
record::TrialRecord finish_training_record(const experiment::Trial& trial, TrainingEvidence evidence);

}  // namespace paretopipe::run
