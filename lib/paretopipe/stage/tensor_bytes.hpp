#pragma once
#include <cstdint>

namespace paretopipe::stage {

/// Bytes of tensors that a thread allocated less those that it freed, as backends' allocators count them. Counted for
/// the computing thread: if another thread freed the results after sending, the peak would depend on chance.
struct TensorBytes {
  std::int64_t alive = 0;
  std::int64_t most = 0;  ///< peak since the last watch began

  void add(std::int64_t bytes) {
    alive += bytes;
    if (alive > most) most = alive;
  }
  void remove(std::int64_t bytes) { alive -= bytes; }
};

/// The counter of this thread.
inline TensorBytes& tensor_bytes() {
  thread_local TensorBytes bytes;
  return bytes;
}

/// Watches what this thread allocates from now on. Only one watch at a time.
class TensorWatch {
 public:
  TensorWatch() : before_(tensor_bytes().alive) { tensor_bytes().most = before_; }

  /// The peak so far, and the current amount.
  std::int64_t most() const { return tensor_bytes().most - before_; }
  std::int64_t now() const { return tensor_bytes().alive - before_; }

 private:
  std::int64_t before_;
};

}  // namespace paretopipe::stage
