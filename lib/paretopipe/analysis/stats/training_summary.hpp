#pragma once
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/record/training.hpp>

namespace paretopipe::stats {

/// Summarises the steps of a trial that trains.
///
/// A step's time runs from the beginning of stage 0's forward of its first micro-batch to the moment when the last
/// stage has updated its weights for it. Everything else is of the time from the end of the last warm-up step to the
/// end of the last step (without warm-up: from the beginning of the first). In it, a stage's thread computes, or is
/// free before its next action; as long as the tensor of that action is on its way (from the sender's first byte handed
/// to the kernel to the last byte here), being free is the transfer's.
///
/// The expected bubble is that of the same schedule played with each stage's median times of forward, backward and
/// update: for stages that take equally long, (K − 1) / (M + K − 1) with gpipe and 1f1b (Huang et al., 2019).
///
/// Throws UsageError for damaged samples.
record::TrainingSummary summarise_training(const record::TrainingSamples& samples, const experiment::Trial& trial);

}  // namespace paretopipe::stats
