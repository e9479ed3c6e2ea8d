#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/run/training_trial.hpp>
#include <paretopipe/run/trial_requests.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// Steps of a training with a lossy codec whose losses are computed without it, too: one process does that first.
constexpr int kMostCompared = 1000;

/// Tensors that cross the cut before this block, in a micro-batch.
stage::Boundary activations_at(const experiment::Trial& trial, const TrainingAnswer& answer, int block) {
  if (block == 0) return {answer.reference.input};
  stage::Boundary boundary;
  for (auto& shape : answer.description.shapes_at(block)) {
    boundary.push_back(stage::activation_spec(trial.compute, std::move(shape)));
  }
  return boundary;
}

/// The gradients of these tensors. Before the first block nobody needs them.
stage::Boundary gradients_at(const experiment::Trial& trial, const TrainingAnswer& answer, int block) {
  if (block == 0) return {stage::no_gradient_spec()};
  return activations_at(trial, answer, block);
}

std::vector<record::LinkPayload> payloads(const experiment::Trial& trial,
                                          const std::vector<stage::TrainReport>& reports) {
  const auto steps = trial.warmup + trial.batches;
  std::vector<record::LinkPayload> links;
  const auto add = [&](std::size_t from, std::size_t to, const stage::Sent& sent) {
    links.push_back({static_cast<int>(from), static_cast<int>(to), sent.bytes / steps,
                     trial.micro_batches() * sent.tensors * static_cast<std::int64_t>(wire::kHeaderBytes)});
    const bool encoded = codec_of_link(trial, static_cast<int>(std::min(from, to))).encodes();
    if (encoded) links.back().unencoded_bytes = sent.unencoded_bytes / steps;
  };
  for (std::size_t stage = 0; stage + 1 < reports.size(); ++stage) {
    add(stage, stage + 1, reports[stage].sent_forward);
    add(stage + 1, stage, reports[stage + 1].sent_backward);
  }
  return links;
}

record::StageReport stage_report(const experiment::Trial& trial, const TrainingEvidence& evidence, std::size_t stage) {
  const auto& report = evidence.reports[stage];
  auto result = stage_as_set_up(trial, evidence.trial, stage);
  result.state = report.state;
  result.held_parameter_bytes = report.memory.weights_bytes;
  if (report.peak_rss_bytes > 0) result.peak_rss_bytes = report.peak_rss_bytes;
  result.usage = report.usage;
  result.conditions = report.conditions;
  result.memory = report.memory;
  return result;
}

/// From absolute moments to those since stage 0's first forward. All stages are on one machine, and so on one clock.
record::TrainingSamples samples_of(const experiment::Trial& trial, TrainingEvidence& evidence) {
  auto& reports = evidence.reports;
  record::TrainingSamples samples;
  samples.warmup = trial.warmup;
  samples.micro_batches = trial.micro_batches();
  samples.losses = std::move(reports.back().losses);
  samples.lossy = std::move(evidence.lossy);
  if (!samples.lossy) samples.verified_steps = kVerifiedSteps;
  const auto origin = reports.front().moments.forward.compute_begin.front();
  const auto rebase = [origin](std::vector<std::int64_t>& moments) {
    for (auto& moment : moments) moment -= origin;
  };
  for (auto& report : reports) {
    auto& timeline = samples.stages.emplace_back(std::move(report.moments));
    for (const auto moment : kPassMoments) {
      rebase(timeline.forward.*moment);
      rebase(timeline.backward.*moment);
    }
    rebase(timeline.update_begin);
    rebase(timeline.update_end);
  }
  return samples;
}

}  // namespace

stage::TrainingTask training_task(const experiment::Trial& trial, stage::ModelRequest model) {
  const auto steps = trial.warmup + trial.batches;
  return {std::move(model), *trial.training, trial.micro_batches(), std::min(kMaxDistinctInputs, steps),
          kVerifiedSteps + steps};
}

TrainingQuestion training_question(const experiment::Trial& trial, const UnsplitSetup& setup,
                                   const stage::ModelRequest& model) {
  TrainingQuestion question{setup, training_task(trial, model), {}, kVerifiedSteps};
  if (has_lossy_codec(trial)) question.steps = std::min(question.steps + trial.warmup + trial.batches, kMostCompared);
  if (trial.training->schedule != experiment::Schedule::pipedream) {
    question.task.training.schedule = experiment::Schedule::gpipe;  // all that flush add gradients in one order
    return question;
  }
  question.parts = trial.stage_blocks();
  question.parts.resize(static_cast<std::size_t>(participants(trial)));
  return question;
}

std::vector<stage::PrepareTraining> training_requests(const experiment::Trial& trial, const stage::TrainingTask& task) {
  std::vector<stage::PrepareTraining> requests;
  const auto blocks = trial.stage_blocks();
  const int stages = participants(trial);
  for (int stage = 0; stage < stages; ++stage) {
    requests.push_back({task, blocks[static_cast<std::size_t>(stage)], stage, stages});
  }
  return requests;
}

std::vector<stage::Train> train_requests(const experiment::Trial& trial, const TrainingAnswer& answer,
                                         std::uint32_t tag, int steps, bool digests) {
  std::vector<stage::Train> requests;
  const auto blocks = trial.stage_blocks();
  const int stages = participants(trial);
  for (int stage = 0; stage < stages; ++stage) {
    const auto& own = blocks[static_cast<std::size_t>(stage)];
    stage::Train request{tag, steps, digests, {}, {}};
    if (stage > 0) request.incoming = activations_at(trial, answer, own.begin);
    if (stage > 0) request.incoming_codec = codec_of_link(trial, stage - 1);
    if (stage + 1 < stages) request.gradients = gradients_at(trial, answer, own.end);
    if (stage + 1 < stages) request.outgoing_codec = codec_of_link(trial, stage);
    requests.push_back(std::move(request));
  }
  return requests;
}

std::optional<record::Failure> check_training(const std::vector<stage::TrainReport>& reports,
                                              const stage::TrainingReference& reference) {
  std::size_t block = 0;
  for (std::size_t stage = 0; stage < reports.size(); ++stage) {
    for (const auto& digest : reports[stage].digests) {
      if (block < reference.digests.size() && digest == reference.digests[block]) {
        ++block;
        continue;
      }
      return record::Failure{
          "check", static_cast<int>(stage),
          fmt::format("after {} steps the weights of block {} are not those of one process that trained alike",
                      kVerifiedSteps, block + 1)};
    }
  }
  if (block == reference.digests.size() && reports.back().losses == reference.losses) return std::nullopt;
  return record::Failure{"check", std::nullopt,
                         "the losses of the first steps are not those of one process that trained alike"};
}

record::TrialRecord finish_training_record(const experiment::Trial& trial, TrainingEvidence evidence) {
  auto& seen = evidence.trial;
  record::TrialRecord record;
  record.trial = trial;
  record.provenance = std::move(seen.provenance);
  if (seen.failure) {
    record.status = record::Status::failed;
    record.failure = std::move(seen.failure);
    return record;
  }
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    record.stages.push_back(stage_report(trial, evidence, i));
    record.clocks.emplace_back();
  }
  record.links = payloads(trial, evidence.reports);
  record.network = std::move(seen.network);
  record.training = samples_of(trial, evidence);
  record.summary.emplace().training = stats::summarise_training(*record.training, trial);
  return judged_by_network(std::move(record));
}

}  // namespace paretopipe::run
