#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>

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

}  // namespace paretopipe::stage
