#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace paretopipe::stage {

/// Lets the batches of a Server phase into the pipeline: each at its moment, and no more than `depth` at a time. What
/// has to wait for a free place goes on waiting outside, in the order of arrival. Thread-safe.
class ArrivalGate {
 public:
  /// `depth` places, 1 at least.
  explicit ArrivalGate(int depth) : free_(depth) {}

  /// Blocks until `moment_ns` of the steady clock has come and a place is free, and takes it. False when the gate was
  /// closed: the batch has no place.
  bool enter(std::int64_t moment_ns);

  /// A place is free again.
  void leave();

  /// Releases whoever waits, for good.
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
  bool closed_ = false;
};

}  // namespace paretopipe::stage
