#include <paretopipe/core/clock.hpp>
#include <paretopipe/experiment/partition.hpp>
#include <paretopipe/stage/bounded_queue.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/progress.hpp>
#include <paretopipe/stage/training_reference.hpp>
#include <paretopipe/stage/training_run.hpp>
#include <paretopipe/wire/link.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

using experiment::Action;

std::int64_t bytes_of(const Activation& activation) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < activation.tensors(); ++i) {
    bytes += static_cast<std::int64_t>(activation.tensor(i).bytes.size());
  }
  return bytes;
}

/// Tensors between the computing thread and a link, and the most bytes of them at a time.
class Crossing {
 public:
  explicit Crossing(std::size_t capacity) : queue_(capacity) {}

  bool push(std::size_t micro_batch, Activation tensors) {
    const auto now = bytes_ += bytes_of(tensors);
    auto most = most_bytes_.load();
    while (now > most && !most_bytes_.compare_exchange_weak(most, now)) {
    }
    return queue_.push({micro_batch, std::move(tensors)});
  }

  std::optional<std::pair<std::size_t, Activation>> pop() { return queue_.pop(); }
  void left(std::int64_t bytes) { bytes_ -= bytes; }
  void close() { queue_.close(); }
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  BoundedQueue<std::pair<std::size_t, Activation>> queue_;
  std::atomic<std::int64_t> bytes_ = 0;
  std::atomic<std::int64_t> most_bytes_ = 0;
};

/// Stands for a gradient that nobody needs.
constexpr float kNoGradient = 0;

/// What went over a link.
struct Sent {
  std::int64_t bytes = 0;
  int tensors = 0;  ///< of a micro-batch
};

/// The threads of a stage that trains, and their shared state.
class TrainingRun {
 public:
  TrainingRun(const Train& request, TrainingStage& stage, Backend& backend, TrainingLinks links, RunProgress& progress)
      : request_(request),
        stage_(stage),
        backend_(backend),
        links_(links),
        progress_(progress),
        micro_batches_(static_cast<std::size_t>(stage.asked.task.micro_batches)),
        total_(micro_batches_ * static_cast<std::size_t>(request.steps)),
        actions_(experiment::actions_of(stage.asked.task.training.schedule,
                                        {stage.asked.stage_count, stage.asked.task.micro_batches, request.steps},
                                        stage.asked.stage)),
        room_(static_cast<std::size_t>(experiment::most_in_flight(actions_)) + 2),
        activations_in_(room_),
        activations_out_(room_),
        gradients_in_(room_),
        gradients_out_(room_),
        loops_([this] { release(); }) {
    for (auto* pass : {&timeline_.forward, &timeline_.backward}) {
      pass->compute_begin.resize(total_);
      pass->compute_end.resize(total_);
    }
    losses_.resize(static_cast<std::size_t>(request.steps));
  }

  void execute() {
    const auto start = [this](wire::Link* link, auto loop) {
      if (link != nullptr) loops_.start(loop);
    };
    auto& forward = timeline_.forward;
    auto& backward = timeline_.backward;
    start(links_.activations.previous, [&] {
      receive(*links_.activations.previous, request_.incoming, forward, activations_in_, progress_.receive(0));
    });
    start(links_.gradients.previous, [&] {
      receive(*links_.gradients.previous, request_.gradients, backward, gradients_in_, progress_.receive(1));
    });
    start(links_.activations.next,
          [&] { sent_forward_ = send(*links_.activations.next, forward, activations_out_, progress_.send(0)); });
    start(links_.gradients.next,
          [&] { sent_backward_ = send(*links_.gradients.next, backward, gradients_out_, progress_.send(1)); });
    loops_.finish_with([this] { compute(); });
  }

  void fill(TrainReport& report) {
    const auto held = stage_.part->bytes();
    report.memory = {held.parameters, held.optimizer, most_tensor_bytes_};
    for (const auto* crossing : {&activations_in_, &activations_out_, &gradients_in_, &gradients_out_}) {
      report.memory.tensors_bytes += crossing->most_bytes();
    }
    report.moments = std::move(timeline_);
    if (stage_.last()) report.losses = std::move(losses_);
    report.correct = correct_;
    if (request_.digests) report.digests = stage_.part->digests();
    report.bytes_forward = sent_forward_.bytes;
    report.bytes_backward = sent_backward_.bytes;
    report.tensors_forward = sent_forward_.tensors;
    report.tensors_backward = sent_backward_.tensors;
  }

 private:
  /// Closing the queues and links releases all waiting threads.
  void release() {
    for (auto* crossing : {&activations_in_, &activations_out_, &gradients_in_, &gradients_out_}) crossing->close();
    for (auto* link :
         {links_.activations.previous, links_.activations.next, links_.gradients.previous, links_.gradients.next}) {
      if (link != nullptr) link->shutdown();
    }
  }

  /// Into new memory each time: what a backward needs stays until then.
  void receive(wire::Link& link, const Boundary& boundary, PassTimeline& pass, Crossing& to, Lane& lane) {
    pass.receive_begin.resize(total_);
    pass.receive_end.resize(total_);
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      auto tensors = allocate(boundary, backend_);
      lane.now(Doing::waiting);
      const auto times = stage::receive(link, request_.tag, sequence, tensors);
      pass.receive_begin[sequence] = times.begin_ns;
      pass.receive_end[sequence] = times.end_ns;
      lane.next(Doing::held_up);
      if (!to.push(sequence, std::move(tensors))) return;
    }
  }

  Sent send(wire::Link& link, PassTimeline& pass, Crossing& from, Lane& lane) {
    pass.send_begin.resize(total_);
    pass.send_end.resize(total_);
    Sent sent;
    for (std::size_t i = 0; i < total_; ++i) {
      auto next = from.pop();
      if (!next) break;
      const auto& [sequence, tensors] = *next;
      lane.now(Doing::sending);
      const auto times = stage::send(link, request_.tag, sequence, tensors);
      pass.send_begin[sequence] = times.begin_ns;
      pass.send_end[sequence] = times.end_ns;
      sent.bytes += bytes_of(tensors);
      sent.tensors = static_cast<int>(tensors.tensors());
      from.left(bytes_of(tensors));
      lane.next(Doing::waiting);
    }
    return sent;
  }

  void compute() {
    const TensorWatch watch;
    auto& lane = progress_.compute();
    for (const auto& action : actions_) {
      lane.now(Doing::waiting);
      const auto number = static_cast<std::size_t>(action.micro_batch);
      const MicroBatch which{stage_.steps_done + number / micro_batches_, number % micro_batches_};
      const bool went = action.kind == Action::Kind::forward    ? forward(which, number, lane)
                        : action.kind == Action::Kind::backward ? backward(which, number, lane)
                                                                : update(lane);
      if (!went) return;
    }
    stage_.steps_done += static_cast<std::size_t>(request_.steps);
    most_tensor_bytes_ = watch.most();
  }

  /// What a link brought belongs to this thread from now on.
  static std::optional<Activation> take(Crossing& from) {
    auto next = from.pop();
    if (!next) return std::nullopt;
    const auto bytes = bytes_of(next->second);
    from.left(bytes);
    tensor_bytes().add(bytes);
    return std::move(next->second);
  }

  static bool hand_on(Crossing& to, std::size_t number, Activation tensors) {
    tensor_bytes().remove(bytes_of(tensors));
    return to.push(number, std::move(tensors));
  }

  bool forward(MicroBatch which, std::size_t number, Lane& lane) {
    auto input = stage_.first() ? std::optional(stage_.data.input(which)) : take(activations_in_);
    if (!input) return false;
    lane.now(Doing::working);
    auto& pass = timeline_.forward;
    pass.compute_begin[number] = now_ns();
    auto output = stage_.part->forward(which, std::move(*input));
    if (stage_.last()) add_loss(which, number);
    pass.compute_end[number] = now_ns();
    computed(pass, number);
    return stage_.last() || hand_on(activations_out_, number, std::move(output));
  }

  void add_loss(MicroBatch which, std::size_t number) {
    const auto share = 1.0 / static_cast<double>(micro_batches_);
    const auto learned = stage_.part->loss(which, stage_.data.labels(which), share);
    check_loss(learned.loss, which.step);
    losses_[number / micro_batches_] += learned.loss;
    correct_ += learned.correct;
  }

  bool backward(MicroBatch which, std::size_t number, Lane& lane) {
    auto gradient = stage_.last() ? std::optional<Activation>(std::in_place) : take(gradients_in_);
    if (!gradient) return false;
    lane.now(Doing::working);
    auto& pass = timeline_.backward;
    const auto& blocks = stage_.asked.blocks;
    pass.compute_begin[number] = now_ns();
    Activation result;
    if (blocks.end > 0) result = stage_.part->backward(which, std::move(*gradient));
    pass.compute_end[number] = now_ns();
    computed(pass, number);
    if (stage_.first()) return true;
    if (blocks.begin == 0) return gradients_out_.push(number, no_gradient());
    return hand_on(gradients_out_, number, std::move(result));
  }

  Activation no_gradient() {
    auto none = backend_.allocate(no_gradient_spec());
    std::memcpy(none.bytes.data(), &kNoGradient, sizeof kNoGradient);
    return none;
  }

  bool update(Lane& lane) {
    lane.now(Doing::working);
    timeline_.update_begin.push_back(now_ns());
    stage_.part->update();
    timeline_.update_end.push_back(now_ns());
    return true;
  }

  void computed(const PassTimeline& pass, std::size_t number) {
    progress_.computed(pass.compute_end[number] - pass.compute_begin[number]);
    progress_.compute().next(Doing::held_up);
  }

  const Train request_;
  TrainingStage& stage_;
  Backend& backend_;
  const TrainingLinks links_;
  RunProgress& progress_;
  const std::size_t micro_batches_;
  const std::size_t total_;
  const std::vector<Action> actions_;
  const std::size_t room_;
  TrainingTimeline timeline_;
  std::vector<double> losses_;
  std::int64_t correct_ = 0;
  std::int64_t most_tensor_bytes_ = 0;
  Sent sent_forward_, sent_backward_;
  Crossing activations_in_, activations_out_, gradients_in_, gradients_out_;
  Loops loops_;
};

constexpr std::size_t kMostTrainedMicroBatches = 2'000'000;

}  // namespace

wire::TensorSpec no_gradient_spec() {
  return {wire::DType::float32, wire::MemoryFormat::contiguous, {1}};
}

TrainingStage prepare_training(const PrepareTraining& request, Backend& backend) {
  if (request.stage_count < 1 || request.stage_count > experiment::kMostStages || request.stage < 0 ||
      request.stage >= request.stage_count) {
    throw wire::ProtocolError(
        fmt::format("the driver prepared stage {} of {} for training", request.stage, request.stage_count));
  }
  backend.keep_only({});
  const bool first = request.stage == 0, last = request.stage + 1 == request.stage_count;
  return {request, backend.make_training_part(request.task.model, request.blocks, request.task.training),
          TrainingData(request.task, first, last, backend)};
}

void take_data(const TakeTrainingData& request, TrainingStage& stage, Backend& backend) {
  stage.data = TrainingData(request.task, stage.first(), stage.last(), backend, stage.steps_done);
}

TrainReport run_training(const Train& request, TrainingStage& stage, Backend& backend, TrainingLinks links,
                         Progress* progress) {
  const auto& task = stage.asked.task;
  const auto micro_batches = static_cast<std::size_t>(task.micro_batches);
  if (request.steps < 1 || static_cast<std::size_t>(request.steps) > kMostTrainedMicroBatches / micro_batches) {
    throw wire::ProtocolError(fmt::format("the driver asked for {} steps of training", request.steps));
  }
  Run shown;  // to those who ask where this run is
  shown.stage_count = stage.asked.stage_count;
  const ShownRun lanes(progress, shown, {links.activations, links.gradients});
  std::optional<TrainingRun> run;
  auto observed = observe(backend, [&] {
                    run.emplace(request, stage, backend, links, lanes.progress());
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
