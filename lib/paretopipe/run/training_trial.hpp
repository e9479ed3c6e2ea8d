#pragma once
#include <paretopipe/run/finish_record.hpp>
#include <paretopipe/run/unsplit_models.hpp>
#include <paretopipe/stage/training_messages.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::run {

// A trial that trains. Its stages first train for a few steps whose weights are compared, bit for bit, with those of
// one process that did the same; then for the steps that are measured. With a lossy codec no weight can be equal, and
// the process trains for all of these steps, so that losses can be compared.

inline constexpr int kVerifiedSteps = 2;

/// What the stages train, for a model at the size of a micro-batch.
stage::TrainingTask training_task(const experiment::Trial& trial, stage::ModelRequest model);

TrainingQuestion training_question(const experiment::Trial& trial, const UnsplitSetup& setup,
                                   const stage::ModelRequest& model);

/// One request for each stage that takes part.
std::vector<stage::PrepareTraining> training_requests(const experiment::Trial& trial, const stage::TrainingTask& task);
std::vector<stage::Train> train_requests(const experiment::Trial& trial, const TrainingAnswer& answer,
                                         std::uint32_t tag, int steps, bool verified = false);

/// By which share the losses of the verified steps may differ from those of one process; 0: nothing may, nor any
/// weight. CPUs of several kinds sum in several orders.
double loss_tolerance(const experiment::Trial& trial, const std::vector<stage::Configured>& stages,
                      const stage::Configured& unsplit);

/// Why what the stages made of the verified steps is not what one process makes of them; nothing if it is.
std::optional<record::Failure> check_training(const std::vector<stage::TrainReport>& reports,
                                              const stage::TrainingReference& reference, double tolerance);

/// What was observed of a trial that trains. The vectors have one entry for each participating stage.
struct TrainingEvidence {
  TrialEvidence trial{};  ///< without reports
  std::vector<stage::TrainReport> reports{};
  std::optional<record::LossyTraining> lossy{};
};

/// As finish_record() for a trial that trains.
record::TrialRecord finish_training_record(const experiment::Trial& trial, TrainingEvidence evidence);

}  // namespace paretopipe::run
