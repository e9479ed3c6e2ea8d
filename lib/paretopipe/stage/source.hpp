#pragma once
#include <paretopipe/core/fidelity.hpp>
#include <paretopipe/core/timeline.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/bounded_queue.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/references.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace paretopipe::stage {

/// Lets the batches of a Server phase into the pipeline, each at its moment and no more than `depth` at a time. Batches
/// that have to wait for a free place wait outside, in the order of arrival. Thread-safe.
class ArrivalGate {
 public:
  /// `depth` places, 1 at least.
  explicit ArrivalGate(int depth) : free_(depth) {}

  /// Blocks until `moment_ns` of the steady clock has come and a place is free, then takes the place. False when the
  /// gate was closed: the batch has no place.
  bool enter(std::int64_t moment_ns);

  /// Frees a place.
  void leave();

  /// Releases all waiting threads, for good.
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
  bool closed_ = false;
};

/// One micro-batch, with all its tensors, on its way through a stage. If batches are not cut, it is a whole batch.
struct Job {
  std::size_t sequence = 0;
  Activation activation;
  std::shared_ptr<void> lease;  ///< keeps the receive buffer from being overwritten; empty if there is none
};

/// Hands batches to the pipeline and takes their results: one batch in flight in the SingleStream phase, `depth` in the
/// Offline phase. A run may have only one of these phases. Each returned result makes room for the next batch, so the
/// number in flight does not depend on socket buffer sizes. All micro-batches of a batch are handed over at one moment,
/// and the batch is back with the last of them, so at most `depth` batches' micro-batches are in flight. In a Server
/// phase a dedicated thread hands batches over as they arrive; while `depth` are in flight, further arrivals wait here,
/// without limit.
///
/// If the run has several devices, batches are dealt out to them (core/timeline.hpp) and come back from each in order.
///
/// `start` and `complete` may be called from any thread. A device's worker takes its work from `jobs`.
class Source {
 public:
  /// `references` must outlive the source.
  Source(const Run& run, const ReferenceSet& references);

  /// Hands over the first batch, or as many as an Offline phase has in flight. Not for a Server phase.
  void start();

  /// Runs the Server phase's schedule, beginning now: hands every batch over when it arrives, or later as soon as there
  /// is room. Returns after the last batch or when the source is closed.
  void follow_schedule();

  /// Ends follow_schedule(), and `jobs`.
  void close();

  /// Takes back micro-batch `sequence`. Those of one device come in order. The result must stay unchanged until its
  /// batch is complete. The complete batch is compared bit for bit with the unsplit model's output. That happens after
  /// its last moment was taken and before the next batch is handed over, so no SingleStream latency includes it.
  void complete(std::size_t sequence, std::int64_t receive_begin_ns, std::int64_t receive_end_ns,
                const Activation& result);

  BoundedQueue<Job>& jobs(std::size_t device = 0) { return jobs_.at(device); }

  /// When each micro-batch was handed over and when each result came back, by sequence number.
  const std::vector<std::int64_t>& issued() const { return issued_; }
  const ResultTimeline& results() const { return results_; }

  /// The moments of a Server phase's batches, once all of them are back.
  ServerTimeline server_timeline() const;

  /// Compares all results with the unsplit model's outputs.
  const Comparison& comparison() const { return comparison_; }

  /// Magnitude of the largest number among the unsplit model's outputs.
  double largest_output() const { return largest_magnitude(references_.outputs); }

  /// Accuracy over the images with a label, each at its first result.
  Accuracy accuracy() const;

  /// The micro-batches of the last batch that came back, once all are back.
  const std::vector<Activation>& last_batch() const { return last_batch_; }

 private:
  void issue();
  void fill();
  void issue_next();
  void check_batch(std::size_t first, std::vector<Activation>& micro_batches);
  void judge(std::size_t sequence, const Activation& result);

  const Run run_;
  const ReferenceSet& references_;
  const Deal deal_;
  std::deque<BoundedQueue<Job>> jobs_;  // by device; a queue does not move
  ArrivalGate gate_;
  std::mutex mutex_;  // guards the following members, except the schedule's beginning
  std::int64_t schedule_begin_ns_ = 0;
  std::vector<std::int64_t> issued_;
  ResultTimeline results_;
  std::size_t next_ = 0;          ///< batch to hand over next
  std::size_t batches_back_ = 0;  ///< of all phases
  std::vector<std::vector<Activation>>
      returned_;  ///< by device: micro-batches of the batch that is coming back, in order
  Comparison comparison_;
  std::int64_t images_judged_ = 0;  ///< against their labels
  std::int64_t images_right_ = 0;
  std::vector<Activation> last_batch_;
};

}  // namespace paretopipe::stage
