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

/// Hands batches to the pipeline and takes their results: one batch in flight in the SingleStream phase, `depth` in the
/// Offline phase. A run may have only one of these phases. Each returned result makes room for the next batch, so the
/// number in flight does not depend on socket buffer sizes. All micro-batches of a batch are handed over at one moment,
/// and the batch is back with the last of them, so at most `depth` batches' micro-batches are in flight. In a Server
/// phase a dedicated thread hands batches over as they arrive; while `depth` are in flight, further arrivals wait here,
/// without limit.
///
/// If the run has several devices, batches are dealt out to them (core/deal.hpp) and come back from each in order.
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
