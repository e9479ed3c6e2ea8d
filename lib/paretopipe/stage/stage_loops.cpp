#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/encoding.hpp>
#include <paretopipe/stage/progress.hpp>
#include <paretopipe/stage/stage_loops.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <algorithm>
#include <optional>

#include <sys/prctl.h>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

/// More than an experiment can ask for; also keeps the sums within an int.
constexpr int kMaxBatches = 1'000'000;

void check_counts(const Run& run) {
  const auto countable = [](int count, int least) { return count >= least && count <= kMaxBatches; };
  if (countable(run.stage_count, 1) && countable(run.warmup, 0) && countable(run.batches, 1) &&
      countable(run.depth, 1) && countable(run.micro_batches, 1) && run.phase_micro_batches() <= 2UL * kMaxBatches &&
      countable(run.devices, 1) && run.device >= 0 && run.device < run.devices && !(run.devices > 1 && run.server)) {
    return;
  }
  throw wire::ProtocolError(
      fmt::format("the driver sent a run that cannot be: {} stages, {} warm-up and {} measured batches of {} "
                  "micro-batches, {} in flight, device {} of {}",
                  run.stage_count, run.warmup, run.batches, run.micro_batches, run.depth, run.device, run.devices));
}

/// More than any phase takes, short enough that moments on it cannot overflow.
constexpr std::int64_t kLongestScheduleNs = 30LL * 86'400 * 1'000'000'000;

/// Only the source has a schedule, and it covers all batches.
void check_schedule(const Run& run, bool source) {
  const auto& arrivals = run.arrivals;
  const auto expected = run.server && source ? static_cast<std::size_t>(run.total_batches()) : 0;
  const bool ordered = std::is_sorted(arrivals.begin(), arrivals.end()) &&
                       (arrivals.empty() || (arrivals.front() >= 0 && arrivals.back() <= kLongestScheduleNs));
  if (arrivals.size() == expected && ordered) return;
  throw wire::ProtocolError(
      fmt::format("the driver sent a schedule that cannot be: {} arrivals{} where there must be {}", arrivals.size(),
                  ordered ? "" : ", out of order or beyond 30 days,", expected));
}

}  // namespace

void check_incoming(const Boundary& incoming, bool source) {
  const auto most = source ? std::size_t{1} : std::size_t{experiment::kMostCrossing};
  if (!incoming.empty() && incoming.size() <= most) return;
  throw wire::ProtocolError(
      fmt::format("the driver announced micro-batches of {} tensors where 1 to {} can come", incoming.size(), most));
}

void check_run(const Run& run, bool source) {
  check_counts(run);
  if (run.stage_count == 1 && !source) throw wire::ProtocolError("a stage that runs alone must be the source");
  check_schedule(run, source);
  check_incoming(run.incoming, source);
}

namespace {

/// Receive buffers: one being filled, one waiting, one being computed from.
constexpr std::size_t kReceiveBuffers = 3;
/// Results waiting for the send thread. A longer queue would hide what credits should bound.
constexpr std::size_t kSendQueue = 2;

/// The loops of a stage and their shared state.
class StageRun {
 public:
  StageRun(const Run& run, Backend& backend, Neighbours neighbours, const ReferenceSet* references,
           RunProgress& progress)
      : run_(run),
        backend_(backend),
        neighbours_(neighbours),
        progress_(progress),
        total_(run.total_micro_batches()),
        free_buffers_(kReceiveBuffers),
        incoming_(kReceiveBuffers),
        outgoing_(kSendQueue),
        loops_([this] { release(); }) {
    for (const auto member : kStageMoments) (timeline_.*member).resize(total_);
    if (references != nullptr) source_.emplace(run, *references);
    if (neighbours_.next != nullptr) needs_.waiting = std::min(kSendQueue + 1, run.micro_batches_in_flight() - 1);
    if (neighbours_.previous != nullptr) allocate_buffers();
    if (run.outgoing_codec.encodes()) encoder_.emplace(run.outgoing_codec, tensors_at(run.blocks.end));
    if (run.incoming_codec.encodes()) decoder_.emplace(run.incoming_codec, run.incoming);
  }

  void execute() {
    if (source_ && run_.server) loops_.start([this] { follow_schedule(); });
    if (neighbours_.previous != nullptr) loops_.start([this] { source_ ? receive_results() : receive_inputs(); });
    if (neighbours_.next != nullptr) loops_.start([this] { send(); });
    loops_.finish_with([this] { compute(); });
  }

  void fill(RunOutcome& outcome) {
    if (encoder_) {
      needs_.buffers += encoder_->held_bytes();
      outcome.report.encoded_bytes = encoder_->payload_bytes();
    }
    if (decoder_) needs_.buffers += decoder_->held_bytes();
    outcome.report.memory = needs_.with(backend_.memory_of(run_.blocks));
    stage::fill(outcome, run_, std::move(timeline_), source_ ? &*source_ : nullptr);
  }

 private:
  BoundedQueue<Job>& jobs() { return source_ ? source_->jobs() : incoming_; }

  void allocate_buffers() {
    const TensorWatch watch;
    if (source_) {
      result_micro_batches_ =
          parts_of(backend_.allocate(whole_batch(run_.incoming.at(0), run_.micro_batches)), run_.micro_batches);
    } else {
      const auto buffers = std::min(kReceiveBuffers, run_.micro_batches_in_flight() + 1);
      for (std::size_t i = 0; i < buffers; ++i) free_buffers_.push(allocate(run_.incoming, backend_));
    }
    needs_.buffers = watch.now();
  }

  /// Closing the queues and links releases all waiting threads.
  void release() {
    incoming_.close();
    if (source_) source_->close();
    outgoing_.close();
    free_buffers_.close();
    if (neighbours_.previous != nullptr) neighbours_.previous->shutdown();
    if (neighbours_.next != nullptr) neighbours_.next->shutdown();
  }

  /// Without this the kernel adds up to 50 µs to every wait (prctl(2), PR_SET_TIMERSLACK).
  void follow_schedule() {
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    source_->follow_schedule();
  }

  void begin() {
    if (!run_.server) source_->start();
  }

  void receive_inputs() {
    auto& lane = progress_.receive();
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      lane.now(Doing::held_up);
      auto buffer = free_buffers_.pop();
      if (!buffer) return;
      lane.now(Doing::waiting);
      auto& link = *neighbours_.previous;
      const auto times =
          decoder_ ? decoder_->receive(link, run_.tag, sequence) : receive(link, run_.tag, sequence, *buffer);
      lane.now(Doing::working);
      if (decoder_) decoder_->decode(*buffer);
      auto decoded = backend_.decode(*buffer);
      timeline_.receive_begin[sequence] = times.begin_ns;
      timeline_.receive_end[sequence] = times.end_ns;
      timeline_.ready[sequence] = now_ns();
      lane.next(Doing::held_up);
      if (!incoming_.push({sequence, std::move(decoded), lease(std::move(*buffer))})) return;
    }
  }

  /// Receives each micro-batch into its place in the whole batch's result. The last one completes the batch.
  void receive_results() {
    auto& lane = progress_.receive();
    begin();
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      const auto& result = result_micro_batches_[sequence % result_micro_batches_.size()];
      const auto times = receive(*neighbours_.previous, run_.tag, sequence, result);
      lane.now(Doing::working);
      source_->complete(sequence, times.begin_ns, times.end_ns, result);
      lane.next(Doing::waiting);
    }
  }

  void compute() {
    auto& lane = progress_.compute();
    if (source_ && neighbours_.previous == nullptr) begin();
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      auto job = jobs().pop();
      if (!job) return;
      lane.now(Doing::working);
      const AddressRanges input(job->activation);
      const TensorWatch watch;
      timeline_.compute_begin[sequence] = now_ns();
      auto output = backend_.forward(run_.blocks, std::move(job->activation));
      timeline_.compute_end[sequence] = now_ns();
      output = backend_.encode(std::move(output));
      timeline_.encoded[sequence] = now_ns();
      needs_.computed(watch);
      progress_.worked(timeline_.encoded[sequence] - timeline_.compute_begin[sequence]);
      lane.next(Doing::held_up);
      if (!input.overlaps(output)) job->lease.reset();
      if (!hand_on({sequence, std::move(output), std::move(job->lease)})) return;
      lane.now(Doing::waiting);
    }
  }

  bool hand_on(Job result) {
    if (neighbours_.next != nullptr) return outgoing_.push(std::move(result));
    const auto sequence = result.sequence;
    const auto moment = timeline_.encoded[sequence];
    timeline_.codec_begin[sequence] = timeline_.send_begin[sequence] = timeline_.send_end[sequence] = moment;
    source_->complete(sequence, moment, moment, result.activation);
    return true;
  }

  void send() {
    auto& lane = progress_.send();
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      auto result = outgoing_.pop();
      if (!result) return;
      const auto* encoded = encode(*result, lane);
      lane.now(Doing::sending);
      auto& link = *neighbours_.next;
      const auto times = encoded == nullptr ? stage::send(link, run_.tag, sequence, result->activation)
                                            : stage::send(link, run_.tag, sequence, encoder_->number(), *encoded);
      if (encoded == nullptr) timeline_.codec_begin[sequence] = times.begin_ns;
      timeline_.send_begin[sequence] = times.begin_ns;
      timeline_.send_end[sequence] = times.end_ns;
      lane.next(Doing::waiting);
    }
  }

  /// Encodes a result and gives its memory back. Null without a codec.
  const EncodedTensors* encode(Job& result, Lane& lane) {
    if (!encoder_) return nullptr;
    lane.now(Doing::working);
    const auto begin_ns = timeline_.codec_begin[result.sequence] = now_ns();
    const auto& encoded = encoder_->encode(result.activation);
    progress_.worked(now_ns() - begin_ns);
    result.activation = {};
    result.lease.reset();
    return &encoded;
  }

  /// Returns the buffer when the last holder releases it. After an error the queue is closed and the buffer is just
  /// freed.
  std::shared_ptr<void> lease(Activation buffer) {
    return {static_cast<void*>(this), [this, buffer = std::move(buffer)](void*) { free_buffers_.push(buffer); }};
  }

  const Run run_;
  Backend& backend_;
  const Neighbours neighbours_;
  RunProgress& progress_;
  const std::size_t total_;
  StageTimeline timeline_;
  TensorNeeds needs_;
  std::optional<Source> source_;
  std::vector<Activation> result_micro_batches_;  // the parts of one batch's result, at the source
  BoundedQueue<Activation> free_buffers_;  // outlives the queues, whose jobs give their buffers back when they go
  BoundedQueue<Job> incoming_;
  BoundedQueue<Job> outgoing_;
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
  Loops loops_;
};

}  // namespace

RunOutcome run_pipeline(const Run& run, Backend& backend, Neighbours neighbours, const ReferenceSet* references,
                        Progress* progress) {
  const ShownRun shown(progress, run, {neighbours});
  std::optional<StageRun> stage;
  auto outcome = observe(backend, [&] {
    stage.emplace(run, backend, neighbours, references, shown.progress());
    stage->execute();
  });
  stage->fill(outcome);
  return outcome;
}

}  // namespace paretopipe::stage
