#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/run_outcome.hpp>
#include <paretopipe/stage/source.hpp>

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

namespace paretopipe::wire {
class Link;
}

namespace paretopipe::stage {

/// Gives the calling thread the policy SCHED_BATCH. Otherwise a thread that wakes up to move bytes would push the
/// computing thread, which shares the stage's cores, off its core between any two batches. If the policy is not
/// allowed, that gap remains and is measured.
inline void let_compute_go_first() noexcept {
  const sched_param no_priority{};
  ::sched_setscheduler(0, SCHED_BATCH, &no_priority);
}

/// The loops of a run, each on a thread of its own except the computing one. The first error of any loop ends all.
/// `stop` has to release all waiting threads; it may be called several times and from any of the threads.
class Loops {
 public:
  explicit Loops(std::function<void()> stop) : stop_(std::move(stop)) {}
  /// Threads are left only if a further one could not be started.
  ~Loops() {
    if (!threads_.empty()) stop_();
    for (auto& thread : threads_) thread.join();
  }
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

  /// Runs the loop on a thread of its own, which moves bytes.
  template <class Loop>
  void start(Loop loop) {
    threads_.emplace_back([this, loop] {
      let_compute_go_first();
      guarded(loop);
    });
  }

  /// Runs the loop on this thread, waits for the others, and throws the first error of all.
  template <class Loop>
  void finish_with(Loop loop) {
    guarded(loop);
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  template <class Loop>
  void guarded(Loop loop) {
    try {
      loop();
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      stop_();
    }
  }

  std::function<void()> stop_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr error_;
};

class Progress;

/// The links to a stage's neighbours in the ring. Null if the stage is alone.
struct Neighbours {
  wire::Link* previous = nullptr;
  wire::Link* next = nullptr;
};

/// Throws wire::ProtocolError for a run that no driver asks for. `source`: this stage is the source.
void check_run(const Run& run, bool source);

/// Throws wire::ProtocolError unless so many tensors can cross a link: those of a cut, or the single result that the
/// source gets.
void check_incoming(const Boundary& incoming, bool source);

/// Runs this stage's part of one trial, from the first batch to the last, and reports its moments. One thread receives
/// into preallocated buffers, the calling thread computes, and one thread sends straight from the results' memory.
/// Small bounded queues join them, so that transfer and compute overlap.
///
/// With `references` this is the source stage: it issues the batches, and its receive thread takes the results.
/// `progress`, if given, shows other threads where this run's threads are. Throws the first error of any thread, after
/// shutting both links down; the ring is then unusable.
RunOutcome run_pipeline(const Run& run, Backend& backend, Neighbours neighbours, const ReferenceSet* references,
                        Progress* progress = nullptr);

}  // namespace paretopipe::stage
