#pragma once
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

namespace paretopipe::stage {

/// Makes the calling thread one of SCHED_BATCH. A thread that is woken to move bytes would otherwise push the computing
/// thread, with which it shares the stage's cores, off its core between two batches, at every batch. Where this is not
/// allowed, the gap is there, and measured.
inline void let_compute_go_first() noexcept {
  const sched_param no_priority{};
  ::sched_setscheduler(0, SCHED_BATCH, &no_priority);
}

/// The loops of a run, each on a thread of its own but for the one that computes. The first error of any of them ends
/// all: `stop` has to release whoever waits, may be called several times and from any of the threads.
class Loops {
 public:
  explicit Loops(std::function<void()> stop) : stop_(std::move(stop)) {}

  /// On a thread of its own, which moves bytes.
  template <class Loop>
  void start(Loop loop) {
    threads_.emplace_back([this, loop] {
      let_compute_go_first();
      guarded(loop);
    });
  }

  /// On this thread; then waits for the others, and throws the first error of all.
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

}  // namespace paretopipe::stage
