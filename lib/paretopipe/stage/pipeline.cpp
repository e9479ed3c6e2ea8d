#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/stage/chunks.hpp>
#include <paretopipe/stage/pipeline.hpp>
#include <paretopipe/wire/link.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include <sched.h>
#include <sys/prctl.h>

namespace paretopipe::stage {
namespace {

/// Receive buffers: one being filled, one waiting, one being computed from.
constexpr std::size_t kReceiveBuffers = 3;
/// Results waiting for the send thread. More would only hide in the queue what credits should bound.
constexpr std::size_t kSendQueue = 2;

/// A thread that is woken to move bytes would otherwise push the computing thread, with which it shares the stage's
/// cores, off its core between two batches, at every batch. Where this is not allowed, the gap is there, and measured.
void let_compute_go_first() noexcept {
  const sched_param no_priority{};
  ::sched_setscheduler(0, SCHED_BATCH, &no_priority);
}

/// The chunks [begin, end) of a timeline.
template <class Timeline, class Moments>
Timeline slice(const Timeline& whole, const Moments& members, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Timeline part;
  for (const auto member : members) {
    const auto& moments = whole.*member;
    (part.*member).assign(moments.begin() + begin, moments.begin() + end);
  }
  return part;
}

/// The loops of a stage and what they share.
class StageRun {
 public:
  StageRun(const Run& run, Backend& backend, Neighbours neighbours, const ReferenceSet* references)
      : run_(run),
        backend_(backend),
        neighbours_(neighbours),
        total_(run.total_chunks()),
        free_buffers_(kReceiveBuffers),
        incoming_(kReceiveBuffers),
        outgoing_(kSendQueue) {
    for (const auto member : kStageMoments) (timeline_.*member).resize(total_);
    if (references != nullptr) source_.emplace(run, *references);
    if (neighbours_.previous == nullptr) return;
    if (source_) {
      result_chunks_ = parts_of(backend_.allocate(whole_batch(run.incoming, run.chunks)), run.chunks);
      return;
    }
    const auto buffers = std::min(kReceiveBuffers, run.chunks_in_flight() + 1);
    for (std::size_t i = 0; i < buffers; ++i) free_buffers_.push(backend_.allocate(run.incoming));
  }

  void execute() {
    std::thread arrivals;
    std::thread receiver;
    std::thread sender;
    if (source_ && run_.server) arrivals = start([this] { follow_schedule(); });
    if (neighbours_.previous != nullptr) receiver = start([this] { source_ ? receive_results() : receive_inputs(); });
    if (neighbours_.next != nullptr) sender = start([this] { send(); });
    guarded([this] { compute(); });
    if (arrivals.joinable()) arrivals.join();
    if (receiver.joinable()) receiver.join();
    if (sender.joinable()) sender.join();
    if (error_) std::rethrow_exception(error_);
  }

  void fill(RunOutcome& outcome) {
    auto& report = outcome.report;
    if (source_) {
      outcome.last_batch = source_->last_batch();
      for (auto* moments : {&timeline_.receive_begin, &timeline_.receive_end, &timeline_.ready})
        *moments = source_->issued();
      report.max_abs_difference = source_->max_abs_difference();
      report.top1_agreement = source_->top1_agreement();
      report.largest_output = source_->largest_output();
      report.accuracy = source_->accuracy();
    }
    if (run_.server) {
      if (source_) report.server = source_->server_timeline();
      return;
    }
    const auto phase = static_cast<std::ptrdiff_t>(run_.phase_chunks());
    const auto total = static_cast<std::ptrdiff_t>(total_);
    report.single_stream = slice(timeline_, kStageMoments, 0, phase);
    report.offline = slice(timeline_, kStageMoments, phase, total);
    if (source_) {
      report.single_stream_results = slice(source_->results(), kResultMoments, 0, phase);
      report.offline_results = slice(source_->results(), kResultMoments, phase, total);
    }
  }

 private:
  BoundedQueue<Job>& jobs() { return source_ ? source_->jobs() : incoming_; }

  template <class Loop>
  std::thread start(Loop loop) {
    return std::thread([this, loop] {
      let_compute_go_first();
      guarded(loop);
    });
  }

  /// The first error ends all loops: closed queues and links release whoever waits.
  template <class Loop>
  void guarded(Loop loop) {
    try {
      loop();
    } catch (...) {
      {
        const std::lock_guard lock(error_mutex_);
        if (!error_) error_ = std::current_exception();
      }
      incoming_.close();
      if (source_) source_->close();
      outgoing_.close();
      free_buffers_.close();
      if (neighbours_.previous != nullptr) neighbours_.previous->shutdown();
      if (neighbours_.next != nullptr) neighbours_.next->shutdown();
    }
  }

  /// The kernel would otherwise add up to 50 µs to every wait (prctl(2), PR_SET_TIMERSLACK).
  void follow_schedule() {
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    source_->follow_schedule();
  }

  void begin() {
    if (!run_.server) source_->start();
  }

  void receive_inputs() {
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      auto buffer = free_buffers_.pop();
      if (!buffer) return;
      const auto times = neighbours_.previous->receive_tensor(run_.tag, sequence, run_.incoming, buffer->bytes);
      auto decoded = backend_.decode(*buffer);
      timeline_.receive_begin[sequence] = times.begin_ns;
      timeline_.receive_end[sequence] = times.end_ns;
      timeline_.ready[sequence] = now_ns();
      if (!incoming_.push({sequence, std::move(decoded), lease(std::move(*buffer))})) return;
    }
  }

  /// Every chunk goes to its place in the whole batch's result, which is complete with the last one.
  void receive_results() {
    begin();
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      const auto& result = result_chunks_[sequence % result_chunks_.size()];
      const auto times = neighbours_.previous->receive_tensor(run_.tag, sequence, run_.incoming, result.bytes);
      source_->complete(sequence, times.begin_ns, times.end_ns, result);
    }
  }

  void compute() {
    if (source_ && neighbours_.previous == nullptr) begin();
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      auto job = jobs().pop();
      if (!job) return;
      const auto input = job->activation.bytes;
      timeline_.compute_begin[sequence] = now_ns();
      auto output = backend_.forward(run_.blocks, std::move(job->activation));
      timeline_.compute_end[sequence] = now_ns();
      output = backend_.encode(std::move(output));
      timeline_.encoded[sequence] = now_ns();
      if (!overlap(input, output.bytes)) job->lease.reset();
      if (!hand_on({sequence, std::move(output), std::move(job->lease)})) return;
    }
  }

  bool hand_on(Job job) {
    if (neighbours_.next != nullptr) return outgoing_.push(std::move(job));
    const auto sequence = job.sequence;
    const auto moment = timeline_.encoded[sequence];
    timeline_.send_begin[sequence] = timeline_.send_end[sequence] = moment;
    source_->complete(sequence, moment, moment, job.activation);
    return true;
  }

  void send() {
    for (std::size_t sequence = 0; sequence < total_; ++sequence) {
      const auto job = outgoing_.pop();
      if (!job) return;
      const auto times = neighbours_.next->send_tensor(run_.tag, sequence, job->activation.spec, job->activation.bytes);
      timeline_.send_begin[sequence] = times.begin_ns;
      timeline_.send_end[sequence] = times.end_ns;
    }
  }

  /// Gives the buffer back when the last holder lets go. After an error the queue is closed and the buffer just ends.
  std::shared_ptr<void> lease(Activation buffer) {
    return {static_cast<void*>(this), [this, buffer = std::move(buffer)](void*) { free_buffers_.push(buffer); }};
  }

  static bool overlap(std::span<const std::byte> left, std::span<const std::byte> right) {
    return left.data() < right.data() + right.size() && right.data() < left.data() + left.size();
  }

  const Run run_;
  Backend& backend_;
  const Neighbours neighbours_;
  const std::size_t total_;
  StageTimeline timeline_;
  std::optional<Source> source_;
  std::vector<Activation> result_chunks_;  // the parts of one batch's result, at the source
  BoundedQueue<Activation> free_buffers_;  // outlives the queues, whose jobs give their buffers back when they go
  BoundedQueue<Job> incoming_;
  BoundedQueue<Job> outgoing_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace

RunOutcome run_pipeline(const Run& run, Backend& backend, Neighbours neighbours, const ReferenceSet* references) {
  RunOutcome outcome;
  auto& report = outcome.report;
  host::reset_peak_rss();
  const host::CpuWatch cpus;
  const auto before = host::read_process_usage();
  StageRun stage(run, backend, neighbours, references);
  stage.execute();
  report.usage = host::read_process_usage() - before;
  report.conditions = cpus.end();
  report.peak_rss_bytes = host::read_peak_rss_bytes().value_or(0);
  report.held_parameter_bytes = backend.held_parameter_bytes();
  report.state = host::read_host_state();
  stage.fill(outcome);
  return outcome;
}

}  // namespace paretopipe::stage
