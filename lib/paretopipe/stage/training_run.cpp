#include <paretopipe/core/clock.hpp>
#include <paretopipe/experiment/partition.hpp>
#include <paretopipe/stage/encoding.hpp>
#include <paretopipe/stage/progress.hpp>
#include <paretopipe/stage/references.hpp>
#include <paretopipe/stage/training_crossings.hpp>
#include <paretopipe/stage/training_reference.hpp>
#include <paretopipe/stage/training_run.hpp>
#include <paretopipe/wire/link.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

using experiment::Action;

/// Stands for a gradient that nobody needs.
constexpr float kNoGradient = 0;

/// The codec of the gradients at the cut before a block. Before the model's first block there are none to encode.
codec::Codec codec_at(int block, const codec::Codec& codec) {
  return block == 0 ? codec::Codec{} : codec;
}

/// The threads of a stage that trains, and their shared state.
class TrainingRun {
 public:
  TrainingRun(const Train& request, TrainingStage& stage, Backend& backend, TrainingLinks links, RunProgress& progress,
              AllReduce* replicas)
      : request_(request),
        stage_(stage),
        backend_(backend),
        links_(links),
        progress_(progress),
        replicas_(replicas),
        micro_batches_(static_cast<std::size_t>(stage.asked.task.micro_batches_each())),
        actions_(experiment::actions_of(
            stage.asked.task.training.schedule,
            {stage.asked.stage_count, static_cast<int>(micro_batches_), request.steps, stage.asked.task.replicas},
            stage.asked.stage)),
        // Nobody is held up for want of room: the stage before has at most one more micro-batch in flight than this
        // one.
        crossings_{request.tag, micro_batches_ * static_cast<std::size_t>(request.steps),
                   static_cast<std::size_t>(experiment::most_in_flight(actions_)) + 2},
        activations_in_(links.activations.previous, crossings_, request.incoming_codec, request.incoming,
                        timeline_.forward),
        activations_out_(links.activations.next, crossings_, request.outgoing_codec, tensors_at(stage.asked.blocks.end),
                         timeline_.forward),
        gradients_in_(links.gradients.previous, crossings_, codec_at(stage.asked.blocks.end, request.outgoing_codec),
                      request.gradients, timeline_.backward),
        gradients_out_(links.gradients.next, crossings_, codec_at(stage.asked.blocks.begin, request.incoming_codec),
                       "the gradient of " + tensors_at(stage.asked.blocks.begin), timeline_.backward),
        loops_([this] { release(); }) {
    for (auto* pass : {&timeline_.forward, &timeline_.backward}) {
      pass->compute_begin.resize(crossings_.total);
      pass->compute_end.resize(crossings_.total);
    }
    losses_.resize(static_cast<std::size_t>(request.steps));
  }

  void execute() {
    const auto start = [this](const auto& crossing, auto loop) {
      if (crossing.exists()) loops_.start(loop);
    };
    start(activations_in_, [&] { activations_in_.receive(backend_, progress_.receive(0)); });
    start(gradients_in_, [&] { gradients_in_.receive(backend_, progress_.receive(1)); });
    start(activations_out_, [&] { activations_out_.send(progress_, 0); });
    start(gradients_out_, [&] { gradients_out_.send(progress_, 1); });
    loops_.finish_with([this] { compute(); });
  }

  void fill(TrainReport& report) {
    const auto held = stage_.part->bytes();
    report.memory = {held.parameters, held.optimizer, most_tensor_bytes_};
    for (const auto* in : {&activations_in_, &gradients_in_}) report.memory.tensors_bytes += in->most_bytes();
    for (const auto* out : {&activations_out_, &gradients_out_}) report.memory.tensors_bytes += out->most_bytes();
    report.moments = std::move(timeline_);
    if (stage_.last()) report.losses = std::move(losses_);
    report.correct = correct_;
    if (request_.verified) report.digests = stage_.part->digests();
    report.sent_forward = activations_out_.sent();
    report.sent_backward = gradients_out_.sent();
    report.reduced_bytes = reduced_bytes_;
  }

 private:
  /// Closing the queues and links releases all waiting threads.
  void release() {
    for (auto* in : {&activations_in_, &gradients_in_}) in->close();
    for (auto* out : {&activations_out_, &gradients_out_}) out->close();
    for (auto* link :
         {links_.activations.previous, links_.activations.next, links_.gradients.previous, links_.gradients.next}) {
      if (link != nullptr) link->shutdown();
    }
  }

  void compute() {
    const TensorWatch watch;
    auto& lane = progress_.compute();
    for (std::size_t index = 0; index < actions_.size(); ++index) {
      lane.now(Doing::waiting);
      if (!act(index, lane)) return;
    }
    stage_.steps_done += static_cast<std::size_t>(request_.steps);
    most_tensor_bytes_ = watch.most();
  }

  bool act(std::size_t index, Lane& lane) {
    const auto& action = actions_[index];
    const auto number = static_cast<std::size_t>(action.micro_batch);
    const MicroBatch which{stage_.steps_done + number / micro_batches_,
                           static_cast<std::size_t>(stage_.first_micro_batch()) + number % micro_batches_};
    for (auto* out : {&activations_out_, &gradients_out_}) out->count_freed();
    switch (action.kind) {
      case Action::Kind::forward:
        return forward(which, number, experiment::backward_of(actions_, index), lane);
      case Action::Kind::backward:
        return backward(which, number, lane);
      case Action::Kind::reduce:
        return reduce();
      case Action::Kind::update:
        break;
    }
    return update(lane);
  }

  bool forward(MicroBatch which, std::size_t number, experiment::Backward backward, Lane& lane) {
    auto input = stage_.first() ? std::optional(stage_.data.input(which)) : activations_in_.take();
    if (!input) return false;
    lane.now(Doing::working);
    auto& pass = timeline_.forward;
    pass.compute_begin[number] = now_ns();
    auto output = stage_.part->forward(which, std::move(*input), backward);
    if (stage_.last()) add_loss(which, number);
    pass.compute_end[number] = now_ns();
    const bool handed_on = stage_.last() || activations_out_.hand_on(number, std::move(output));
    computed(pass, number);
    return handed_on;
  }

  void add_loss(MicroBatch which, std::size_t number) {
    const auto& task = stage_.asked.task;
    const auto share = task.training.share_of_loss(static_cast<std::size_t>(task.micro_batches));
    const auto learned = stage_.part->loss(which, stage_.data.labels(which), share);
    check_loss(learned.loss, which.step);
    losses_[number / micro_batches_] += learned.loss;
    correct_ += learned.correct;
  }

  bool backward(MicroBatch which, std::size_t number, Lane& lane) {
    auto gradient = stage_.last() ? std::optional<Activation>(std::in_place) : gradients_in_.take();
    if (!gradient) return false;
    lane.now(Doing::working);
    auto& pass = timeline_.backward;
    const auto& blocks = stage_.asked.blocks;
    pass.compute_begin[number] = now_ns();
    auto result = stage_.part->backward(which, std::move(*gradient));  // without blocks, too: it drops the input
    pass.compute_end[number] = now_ns();
    if (blocks.begin == 0) result = no_gradient();
    const bool handed_on = stage_.first() || gradients_out_.hand_on(number, std::move(result));
    computed(pass, number);
    return handed_on;
  }

  Activation no_gradient() {
    auto none = backend_.allocate(no_gradient_spec());
    std::memcpy(none.bytes.data(), &kNoGradient, sizeof kNoGradient);
    return none;
  }

  /// Leaves the lane waiting, because how long this takes depends on the other replicas.
  bool reduce() {
    timeline_.reduce_begin.push_back(now_ns());
    const auto gradients = stage_.part->gradients();
    sum_gradients(gradients, sums_in_double(request_.verified, stage_.asked.task.replicas), *replicas_);
    reduced_bytes_ += static_cast<std::int64_t>(gradients.size_bytes());
    timeline_.reduce_end.push_back(now_ns());
    return true;
  }

  bool update(Lane& lane) {
    lane.now(Doing::working);
    timeline_.update_begin.push_back(now_ns());
    stage_.part->update(learning_rate(stage_.asked.task, stage_.updates_done++));
    timeline_.update_end.push_back(now_ns());
    return true;
  }

  void computed(const PassTimeline& pass, std::size_t number) {
    progress_.worked(pass.compute_end[number] - pass.compute_begin[number]);
    progress_.compute().next(Doing::held_up);
  }

  const Train request_;
  TrainingStage& stage_;
  Backend& backend_;
  const TrainingLinks links_;
  RunProgress& progress_;
  AllReduce* const replicas_;
  const std::size_t micro_batches_;
  const std::vector<Action> actions_;
  const CrossingRun crossings_;
  TrainingTimeline timeline_;
  std::vector<double> losses_;
  std::int64_t correct_ = 0;
  std::int64_t reduced_bytes_ = 0;
  std::int64_t most_tensor_bytes_ = 0;
  Inbound activations_in_;
  Outbound activations_out_;
  Inbound gradients_in_;
  Outbound gradients_out_;
  Loops loops_;
};

constexpr std::size_t kMostTrainedMicroBatches = 2'000'000;

}  // namespace

wire::TensorSpec no_gradient_spec() {
  return {wire::DType::float32, wire::MemoryFormat::contiguous, {1}};
}

TrainingStage prepare_training(const PrepareTraining& request, std::vector<Activation> inputs, Backend& backend) {
  if (request.stage_count < 1 || request.stage_count > experiment::kMostStages || request.stage < 0 ||
      request.stage >= request.stage_count) {
    throw wire::ProtocolError(
        fmt::format("the driver prepared stage {} of {} for training", request.stage, request.stage_count));
  }
  const auto& task = request.task;
  if (task.replicas < 1 || request.replica < 0 || request.replica >= task.replicas ||
      task.micro_batches % task.replicas != 0 || (task.replicas > 1 && request.stage_count > 1)) {
    throw wire::ProtocolError(fmt::format("the driver prepared replica {} of {}, in {} stages, for {} micro-batches",
                                          request.replica, task.replicas, request.stage_count, task.micro_batches));
  }
  backend.keep_only({});
  const bool first = request.stage == 0, last = request.stage + 1 == request.stage_count;
  TrainingStage stage{request, backend.make_training_part(task.model, request.blocks, task.training),
                      TrainingData(task, first && inputs.empty(), last && request.given.labels.empty(), backend)};
  stage.data.take(copy_inputs(inputs, backend), request.given.labels);
  stage.data.keep_only(stage.first_micro_batch(), task.micro_batches_each());
  return stage;
}

void take_data(const TakeTrainingData& request, TrainingStage& stage, Backend& backend) {
  stage.data = TrainingData(request.task, stage.first(), stage.last(), backend, stage.steps_done);
}

TrainReport run_training(const Train& request, TrainingStage& stage, Backend& backend, TrainingLinks links,
                         Progress* progress, AllReduce* replicas) {
  const auto& task = stage.asked.task;
  const auto micro_batches = static_cast<std::size_t>(task.micro_batches);
  if (request.steps < 1 || static_cast<std::size_t>(request.steps) > kMostTrainedMicroBatches / micro_batches) {
    throw wire::ProtocolError(fmt::format("the driver asked for {} steps of training", request.steps));
  }
  if (task.replicas > 1 && replicas == nullptr) {
    throw wire::ProtocolError("the driver sent train to a replica that is not connected with the others");
  }
  Run shown;  // to those who ask where this run is
  shown.stage_count = stage.asked.stage_count;
  const ShownRun lanes(progress, shown, {links.activations, links.gradients});
  std::optional<TrainingRun> run;
  auto observed = observe(backend, [&] {
                    run.emplace(request, stage, backend, links, lanes.progress(), replicas);
                    run->execute();
                  }).report;
  TrainReport report;
  run->fill(report);
  report.usage = observed.usage;
  report.peak_rss_bytes = observed.peak_rss_bytes;
  report.state = std::move(observed.state);
  report.conditions = std::move(observed.conditions);
  return report;
}

}  // namespace paretopipe::stage
