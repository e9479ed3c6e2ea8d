#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/run/training_trial.hpp>
#include <paretopipe/run/trial_clocks.hpp>
#include <paretopipe/run/trial_requests.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// The most steps for which one process trains without the lossy codec, to compare losses.
constexpr int kMostCompared = 1000;

/// The tensors of a micro-batch that cross the cut before this block.
stage::Boundary activations_at(const experiment::Trial& trial, const TrainingAnswer& answer, int block) {
  if (block == 0) return {answer.reference.input};
  stage::Boundary boundary;
  for (auto& shape : answer.description.shapes_at(block)) {
    boundary.push_back(stage::activation_spec(trial.compute, std::move(shape)));
  }
  return boundary;
}

/// The gradients of these tensors. Nobody needs them before the first block.
stage::Boundary gradients_at(const experiment::Trial& trial, const TrainingAnswer& answer, int block) {
  if (block == 0) return {stage::no_gradient_spec()};
  return activations_at(trial, answer, block);
}

std::vector<record::LinkPayload> payloads(const experiment::Trial& trial,
                                          const std::vector<stage::TrainReport>& reports) {
  const auto steps = trial.warmup + trial.batches;
  std::vector<record::LinkPayload> links;
  if (trial.data_parallel > 0) return links;  // Gloo decides which way sums go
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

/// The loss of each step, summed over the replicas: each reports its share.
std::vector<double> losses_of(const std::vector<stage::TrainReport>& reports) {
  std::vector<double> losses(reports.back().losses.size());
  for (const auto& report : reports) {
    for (std::size_t step = 0; step < report.losses.size(); ++step) losses.at(step) += report.losses[step];
  }
  return losses;
}

/// Converts absolute moments to stage 0's clock, from its first forward pass on.
record::TrainingSamples samples_of(const experiment::Trial& trial, TrainingEvidence& evidence,
                                   const TrialClocks& clocks) {
  auto& reports = evidence.reports;
  record::TrainingSamples samples;
  samples.warmup = trial.warmup;
  samples.micro_batches = trial.micro_batches();
  samples.losses = losses_of(reports);
  samples.reduced_bytes = reports.front().reduced_bytes / (trial.warmup + trial.batches);
  samples.lossy = std::move(evidence.lossy);
  if (!samples.lossy) samples.verified_steps = kVerifiedSteps;
  const auto origin = reports.front().moments.forward.compute_begin.front();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto& clock = clocks.of(i);
    const auto rebase = [&](std::vector<std::int64_t>& moments) {
      for (auto& moment : moments) moment = clock.to_base(moment) - origin;
    };
    auto& timeline = samples.stages.emplace_back(std::move(reports[i].moments));
    for (const auto moment : kPassMoments) {
      rebase(timeline.forward.*moment);
      rebase(timeline.backward.*moment);
    }
    rebase(timeline.reduce_begin);
    rebase(timeline.reduce_end);
    rebase(timeline.update_begin);
    rebase(timeline.update_end);
  }
  return samples;
}

}  // namespace

stage::TrainingTask training_task(const experiment::Trial& trial, stage::ModelRequest model) {
  const auto steps = trial.warmup + trial.batches;
  return {std::move(model),       *trial.training,
          trial.micro_batches(),  std::min(kMaxDistinctInputs, steps),
          kVerifiedSteps + steps, std::max(1, trial.data_parallel)};
}

TrainingQuestion training_question(const experiment::Trial& trial, const UnsplitSetup& setup,
                                   const stage::ModelRequest& model) {
  TrainingQuestion question{setup, training_task(trial, model), {}, kVerifiedSteps};
  if (trial.data_parallel > 0) return question;
  if (has_lossy_codec(trial)) question.steps = std::min(question.steps + trial.warmup + trial.batches, kMostCompared);
  if (trial.training->schedule != experiment::Schedule::pipedream) {
    question.task.training.schedule = experiment::Schedule::gpipe;  // all that flush add gradients in the same order
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
    const auto& own = blocks[static_cast<std::size_t>(stage)];
    if (task.replicas > 1) {
      requests.push_back({task, own, 0, 1, stage});
    } else {
      requests.push_back({task, own, stage, stages});
    }
  }
  return requests;
}

std::vector<stage::Train> train_requests(const experiment::Trial& trial, const TrainingAnswer& answer,
                                         std::uint32_t tag, int steps, bool verified) {
  experiment::schedule_of(trial.training->schedule, training_extent(trial, steps));  // throws if stages would hang
  std::vector<stage::Train> requests;
  const auto blocks = trial.stage_blocks();
  const int stages = participants(trial);
  for (int stage = 0; stage < stages; ++stage) {
    const auto& own = blocks[static_cast<std::size_t>(stage)];
    stage::Train request{tag, steps, verified, {}, {}};
    if (trial.data_parallel > 0) {
      requests.push_back(std::move(request));
      continue;
    }
    if (stage > 0) request.incoming = activations_at(trial, answer, own.begin);
    if (stage > 0) request.incoming_codec = codec_of_link(trial, stage - 1);
    if (stage + 1 < stages) request.gradients = gradients_at(trial, answer, own.end);
    if (stage + 1 < stages) request.outgoing_codec = codec_of_link(trial, stage);
    requests.push_back(std::move(request));
  }
  return requests;
}

double loss_tolerance(const experiment::Trial& trial, const std::vector<stage::Configured>& stages,
                      const stage::Configured& unsplit) {
  const auto used = cpus_of(std::span(stages).first(static_cast<std::size_t>(participants(trial))), unsplit);
  return used == experiment::Cpus::of_one_kind ? 0 : trial.relative_tolerance(used);
}

namespace {

bool losses_near(const std::vector<double>& losses, const std::vector<double>& expected, double tolerance) {
  return std::equal(losses.begin(), losses.end(), expected.begin(), expected.end(),
                    [&](double one, double other) { return std::abs(one - other) <= tolerance * std::abs(other); });
}

}  // namespace

std::optional<record::Failure> check_training(const std::vector<stage::TrainReport>& reports,
                                              const stage::TrainingReference& reference, double tolerance) {
  const auto losses = losses_of(reports);
  if (tolerance > 0) {
    if (losses_near(losses, reference.losses, tolerance)) return std::nullopt;
    return record::Failure{"check", std::nullopt,
                           fmt::format("the losses of the first steps differ from those of one process that trained "
                                       "alike by more than {:g} of them",
                                       tolerance)};
  }
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
  if (block == reference.digests.size() && losses == reference.losses) return std::nullopt;
  return record::Failure{"check", std::nullopt,
                         "the losses of the first steps are not those of one process that trained alike"};
}

record::TrialRecord finish_training_record(const experiment::Trial& trial, TrainingEvidence evidence) {
  auto& seen = evidence.trial;
  record::TrialRecord record;
  record.trial = trial;
  record.provenance = std::move(seen.provenance);
  if (seen.failure) return not_ok(std::move(record), record::Status::failed, std::move(*seen.failure));
  const TrialClocks clocks(seen.configured, evidence.reports);
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    record.stages.push_back(stage_report(trial, evidence, i));
    record.clocks.push_back(clocks.relation(i));
  }
  record.links = payloads(trial, evidence.reports);
  record.network = std::move(seen.network);
  record.training = samples_of(trial, evidence, clocks);
  if (!record.training->lossy) record.training->loss_tolerance = loss_tolerance(trial, seen.configured, seen.unsplit);
  if (record.training->loss_tolerance > 0) record.training->verified_steps = 0;
  record.summary.emplace().training = stats::summarise_training(*record.training, trial, record.clocks);
  return judged(std::move(record), clocks);
}

}  // namespace paretopipe::run
