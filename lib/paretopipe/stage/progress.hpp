#pragma once
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/pipeline.hpp>

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

/// Where the threads of a run are, for another thread to see at any time. What they write costs them a store that no
/// other core waits for, so that nothing measured changes whether somebody looks or not.
namespace paretopipe::stage {

/// One thread of a run. It alone writes.
class Lane {
 public:
  Lane(Role role, int peer, std::shared_ptr<const wire::Traffic> traffic);

  void now(Doing doing) { doing_.store(doing, std::memory_order_relaxed); }

  /// One more micro-batch is done, and the next thing that the thread does is this.
  void next(Doing doing) {
    done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    now(doing);
  }

  LaneReport report() const;

 private:
  Role role_;
  int peer_;
  std::shared_ptr<const wire::Traffic> traffic_;  ///< null where the thread serves no link
  std::atomic<Doing> doing_ = Doing::waiting;
  std::atomic<std::int64_t> done_ = 0;
};

/// All threads of one run.
class RunProgress {
 public:
  /// `stage`: which one this is, in the pipeline. Neighbours as run_pipeline() or run_dealer() have them.
  RunProgress(const Run& run, int stage, const std::vector<Neighbours>& neighbours);

  Lane& compute() { return lanes_.front(); }
  Lane& receive(std::size_t neighbours = 0) { return lanes_.at(1 + 2 * neighbours); }
  Lane& send(std::size_t neighbours = 0) { return lanes_.at(2 + 2 * neighbours); }

  /// The computing thread has taken so long for a micro-batch.
  void computed(std::int64_t duration_ns);

  void describe_in(Whereabouts& whereabouts) const;

 private:
  std::deque<Lane> lanes_;  // a lane does not move
  std::atomic<std::int64_t> longest_compute_ns_ = 0;
};

/// The run that is under way in this process, if any. Thread-safe.
class Progress {
 public:
  /// Which stage of the pipeline this process is. Only while no run is under way.
  void configure(int stage) { stage_ = stage; }
  int stage() const { return stage_; }

  /// Null: no run is under way.
  void show(std::shared_ptr<const RunProgress> run);

  /// Of this process, as seen by the calling thread, whose own CPU time is left out.
  Whereabouts where() const;

 private:
  int stage_ = 0;
  mutable std::mutex mutex_;
  std::shared_ptr<const RunProgress> run_;
};

/// A run that `board` shows as long as this lives, unless it is null.
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
