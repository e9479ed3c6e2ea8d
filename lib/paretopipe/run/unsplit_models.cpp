#include <paretopipe/core/error.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/run/unsplit_models.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// With labels, as many as a phase has batches, because accuracy is over all of them, up to a gibibyte.
int distinct_inputs(const UnsplitQuestion& question, const experiment::ModelDescription& model) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
  const auto few = std::min(kMaxDistinctInputs, question.batches);
  if (question.model.labels.empty()) return few;
  const auto room = kMostBytes / std::max<std::int64_t>(1, model.input_bytes * question.micro_batches);
  return std::max(few, static_cast<int>(std::min<std::int64_t>(question.batches, room)));
}

template <class Question, class Answer>
const Answer* find_answer(const std::deque<std::pair<Question, Answer>>& answers, const Question& question) {
  const auto found =
      std::find_if(answers.begin(), answers.end(), [&](const auto& known) { return known.first == question; });
  return found == answers.end() ? nullptr : &found->second;
}

void check(const UnsplitFidelity& fidelity, const stage::ModelRequest& model) {
  if (fidelity.kept()) return;
  throw UsageError(fmt::format(
      "{} cannot be measured {}: unsplit, its outputs differ from those in eager float32 by up to {:g}, more than the "
      "{:g} allowed (top-1 agreement {:.1f} % of {} images). Use --compute eager",
      model.model, experiment::describe(model.compute), fidelity.max_abs_difference, fidelity.tolerance,
      100 * fidelity.top1_agreement, fidelity.images));
}

}  // namespace

UnsplitSetup apart_from_stages(UnsplitSetup setup) {
  setup.apart = true;
  setup.compute.device = experiment::kCpu;
  setup.compute.threads = std::min(setup.compute.threads, static_cast<int>(host::current_affinity().size()));
  return setup;
}

void UnsplitModels::start(const UnsplitSetup& setup) {
  if (process_ && process_->setup == setup) return;
  process_.reset();
  auto command = setup.command;
  command.name = "the process that computes unsplit models";
  if (setup.apart) command.name += " on this machine";
  command.environment.emplace_back("OMP_NUM_THREADS", std::to_string(setup.compute.threads));
  process_.emplace(setup, command);
  process_->client.send(stage::Configure{kNoStage, "", setup.compute});
}

WaitLimits UnsplitModels::limits() const {
  const auto* watching = process_->configured.has_value() ? &watching_ : nullptr;  // it is no longer starting
  return {Clock::now() + std::chrono::seconds(timeout_s_), interrupt_descriptor_, watching, true};
}

template <class Reply>
Reply UnsplitModels::wait_for() {
  try {
    return wait_for_reply<Reply>(process_->client, limits());
  } catch (const StageError& error) {
    if (error.kind() != StageError::Kind::refused || !process_->setup.apart) throw;
    throw StageError(error.stage(), error.kind(), error.code(),
                     fmt::format("{}: {}", process_->client.name(), error.what()));
  }
}

template <class Reply, class Request>
Reply UnsplitModels::ask(const Request& request) {
  if (!process_->configured) process_->configured = wait_for<stage::Configured>();
  process_->client.send(request);
  return wait_for<Reply>();
}

const experiment::ModelDescription& UnsplitModels::describe(const stage::ModelRequest& request) {
  if (const auto* found = find_answer(descriptions_, request)) return *found;
  auto description = ask<stage::Described>(stage::Describe{request}).description;
  return descriptions_.emplace_back(request, std::move(description)).second;
}

const UnsplitAnswer* UnsplitModels::known(const UnsplitQuestion& question) const {
  return find_answer(answers_, question);
}

const TrainingAnswer* UnsplitModels::known(const TrainingQuestion& question) const {
  return find_answer(training_answers_, question);
}

stage::ModelRequest as_described(stage::ModelRequest model, const experiment::ModelDescription& description) {
  model.cut_positions = description.cut_positions;
  if (model.archive) model.num_classes = static_cast<int>(description.blocks.back().output_shape.back());
  return model;
}

const TrainingAnswer& UnsplitModels::answer(const TrainingQuestion& question) {
  if (const auto* answer = known(question)) return *answer;
  start(question.setup);
  TrainingAnswer answer;
  answer.description = describe(question.task.model);
  auto task = question.task;
  task.model = answer.model = as_described(task.model, answer.description);
  auto parts = question.parts;
  if (parts.empty()) parts = {{0, answer.description.block_count()}};
  answer.reference = ask<stage::TrainingReference>(stage::ComputeTrainingReference{task, parts, question.steps});
  answer.process = *process_->configured;
  if (question.with_data) {
    answer.data = ask<stage::TrainingDataFollow>(stage::MakeTrainingData{task});
    answer.inputs = receive(0, answer.data.inputs, answer.data.input);
  }
  return training_answers_.emplace_back(question, std::move(answer)).second;
}

std::vector<std::vector<std::byte>> UnsplitModels::receive(std::uint64_t first, int count,
                                                           const wire::TensorSpec& spec) {
  const std::vector<std::byte> empty(static_cast<std::size_t>(wire::byte_size(spec)));
  std::vector<std::vector<std::byte>> tensors(static_cast<std::size_t>(count), empty);
  process_->client.receive_within(limits(), [&] {
    for (auto& tensor : tensors) process_->client.receive_tensor(0, first++, spec, tensor);
  });
  return tensors;
}

const UnsplitAnswer& UnsplitModels::answer(const UnsplitQuestion& question) {
  if (const auto* answer = known(question)) return *answer;
  start(question.setup);
  UnsplitAnswer answer;
  answer.model = question.model;
  answer.description = describe(question.model);
  answer.model.cut_positions = answer.description.cut_positions;
  answer.distinct_inputs = distinct_inputs(question, answer.description);
  const auto reply = ask<stage::ReferencesFollow>(
      stage::ComputeReferences{answer.model, answer.description.block_count(), answer.distinct_inputs,
                               question.micro_batches, question.with_inputs});
  answer.ends = reply.ends;
  answer.process = *process_->configured;
  const int count = answer.distinct_inputs * question.micro_batches;
  answer.outputs = receive(0, count, reply.ends.result);
  if (question.with_inputs) {
    answer.inputs = receive(answer.outputs.size(), count, reply.ends.input);
    answer.labels = reply.labels;
  }
  if (reply.against_eager.images > 0) {
    check(reply.against_eager, question.model);
    answer.against_eager = reply.against_eager;
  }
  return answers_.emplace_back(question, std::move(answer)).second;
}

namespace {

constexpr auto kPatience = std::chrono::minutes(10);

template <class Reply, class Request>
Reply ask_once(const std::filesystem::path& stage_program, const Request& request) {
  StageClient stage(0, {stage_program});
  stage.send(stage::Configure{});
  wait_for_reply<stage::Configured>(stage, {Clock::now() + kPatience});
  stage.send(request);
  return wait_for_reply<Reply>(stage, {Clock::now() + kPatience});
}

}  // namespace

std::vector<std::string> list_models(const std::filesystem::path& stage_program) {
  return ask_once<stage::ModelList>(stage_program, stage::ListModels{}).models;
}

stage::Configured try_configuration(const std::filesystem::path& stage_program) {
  StageClient stage(0, {stage_program});
  stage.send(stage::Configure{});
  return wait_for_reply<stage::Configured>(stage, {Clock::now() + kPatience});
}

experiment::ModelDescription describe_model(const std::filesystem::path& stage_program,
                                            const stage::ModelRequest& request) {
  return ask_once<stage::Described>(stage_program, stage::Describe{request}).description;
}

stage::TrainingMeasured measure_training(const std::filesystem::path& stage_program,
                                         const stage::MeasureTraining& request) {
  return ask_once<stage::TrainingMeasured>(stage_program, request);
}

}  // namespace paretopipe::run
