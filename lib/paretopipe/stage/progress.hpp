#pragma once
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/stage_loops.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace paretopipe::wire {
struct Traffic;
}

/// Where the threads of a run are, visible to another thread at any time. Writing costs a thread one store that no
/// other core waits for, so looking does not change any measurement.
namespace paretopipe::stage {

/// One thread of a run, which is the only writer.
class Lane {
 public:
  Lane(Role role, int peer, std::shared_ptr<const wire::Traffic> traffic);

  void now(Doing doing) { doing_.store(doing, std::memory_order_relaxed); }

  /// Counts one more finished micro-batch and sets the thread's next activity.
  void next(Doing doing) {
    done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    now(doing);
  }

  /// False for a thread that would serve a link which the stage does not have: it would seem to wait for ever.
  bool exists() const { return role_ == Role::compute || traffic_ != nullptr; }

  LaneReport report() const;

 private:
  Role role_;
  int peer_;
  std::shared_ptr<const wire::Traffic> traffic_;  ///< null if the thread serves no link
  std::atomic<Doing> doing_ = Doing::waiting;
  std::atomic<std::int64_t> done_ = 0;
};

/// All threads of one run.
class RunProgress {
 public:
  /// `stage`: the index of this stage in the pipeline. Neighbours as in run_pipeline() or run_dealer().
  RunProgress(const Run& run, int stage, const std::vector<Neighbours>& neighbours);

  Lane& compute() { return lanes_.front(); }
  Lane& receive(std::size_t neighbours = 0) { return lanes_.at(1 + 2 * neighbours); }
  Lane& send(std::size_t neighbours = 0) { return lanes_.at(2 + 2 * neighbours); }

  /// Records how long a thread computed or encoded a micro-batch.
  void worked(std::int64_t duration_ns);

  void describe_in(Whereabouts& whereabouts) const;

 private:
  std::deque<Lane> lanes_;  // a lane does not move
  std::atomic<std::int64_t> longest_compute_ns_ = 0;
};

/// The current run of this process, if any. Thread-safe.
class Progress {
 public:
  /// Sets the index of this process's stage in the pipeline. Only while no run is under way.
  void configure(int stage) { stage_ = stage; }
  int stage() const { return stage_; }

  /// Null: no run is under way.
  void show(std::shared_ptr<const RunProgress> run);

  /// The state of this process as the calling thread sees it; the caller's own CPU time is left out.
  Whereabouts where() const;

 private:
  int stage_ = 0;
  mutable std::mutex mutex_;
  std::shared_ptr<const RunProgress> run_;
};

/// Shows a run on `board` for the lifetime of this object. Does nothing if `board` is null.
class ShownRun {
 public:
  ShownRun(Progress* board, const Run& run, const std::vector<Neighbours>& neighbours);
  ~ShownRun();
  ShownRun(const ShownRun&) = delete;
  ShownRun& operator=(const ShownRun&) = delete;

  RunProgress& progress() const { return *progress_; }

 private:
  Progress* board_;
  std::shared_ptr<RunProgress> progress_;
};

}  // namespace paretopipe::stage
