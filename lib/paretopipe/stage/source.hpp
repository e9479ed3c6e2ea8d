#pragma once
#include <paretopipe/core/accuracy.hpp>
#include <paretopipe/core/deal.hpp>
#include <paretopipe/core/timeline.hpp>
#include <paretopipe/stage/arrival_gate.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/bounded_queue.hpp>
#include <paretopipe/stage/comparison.hpp>
#include <paretopipe/stage/job.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/references.hpp>

#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace paretopipe::stage {

/// Hands batches to the pipeline and takes their results: one in flight in the SingleStream phase, `depth` in the
/// Offline phase; a run may have only one of them. A result that comes back makes room for the next batch, so the
/// number in flight never depends on how much a socket buffer happens to swallow. All micro-batches of a batch are
/// handed over at one moment, and the batch is back with the last of them: at most `depth` batches' micro-batches are
/// in flight. In a Server phase batches are handed over as they arrive, by a thread of their own; what arrives while
/// `depth` are in flight waits here, however many they are.
///
/// Where the run has several devices, batches are dealt out to them (core/deal.hpp), and come back from each in order.
///
/// `start` and `complete` may be called from any thread; `jobs` is where whoever works for a device takes its work.
class Source {
 public:
  /// `references` must outlive the source.
  Source(const Run& run, const ReferenceSet& references);

  /// Hands the first batch over, or as many as an Offline phase has in flight; not in a Server phase.
  void start();

  /// The Server phase's schedule, beginning now: hands every batch over when it arrives, or as soon after as there is
  /// room. Returns after the last one, or when the source was closed.
  void follow_schedule();

  /// Ends follow_schedule(), and `jobs`.
  void close();

  /// Micro-batch `sequence` is back; those of one device come in order. Its result must stay as it is until its batch
  /// is complete. Then the batch is compared bit for bit with the unsplit model's, after its last moment was taken and
  /// before the next one is handed over: in the SingleStream phase no latency contains it.
  void complete(std::size_t sequence, std::int64_t receive_begin_ns, std::int64_t receive_end_ns,
                const Activation& result);

  BoundedQueue<Job>& jobs(std::size_t device = 0) { return jobs_.at(device); }

  /// When each micro-batch was handed over; when each result came back. By sequence number.
  const std::vector<std::int64_t>& issued() const { return issued_; }
  const ResultTimeline& results() const { return results_; }

  /// The moments of a Server phase's batches, once all of them are back.
  ServerTimeline server_timeline() const;

  /// Of all results with the unsplit model's outputs.
  const Comparison& comparison() const { return comparison_; }

  /// Magnitude of the largest number among the unsplit model's outputs.
  double largest_output() const { return largest_magnitude(references_.outputs); }

  /// Of the images with a label, each at its first result.
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
  std::mutex mutex_;  // guards what follows, but for the schedule's beginning
  std::int64_t schedule_begin_ns_ = 0;
  std::vector<std::int64_t> issued_;
  ResultTimeline results_;
  std::size_t next_ = 0;          ///< batch to be handed over
  std::size_t batches_back_ = 0;  ///< of all phases
  std::vector<std::vector<Activation>>
      returned_;  ///< by device: micro-batches of the batch that is coming back, in order
  Comparison comparison_;
  std::int64_t images_judged_ = 0;  ///< against their labels
  std::int64_t images_right_ = 0;
  std::vector<Activation> last_batch_;
};

}  // namespace paretopipe::stage
