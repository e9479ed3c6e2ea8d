#pragma once
#include <cstdint>

namespace paretopipe::stage {

/// Bytes of tensors that a thread allocated, less those that it freed, as the allocators of backends count them. Of the
/// thread that computes: another one that sends its results and frees them would make it a matter of chance what lives
/// at once.
struct TensorBytes {
  std::int64_t alive = 0;
  std::int64_t most = 0;  ///< since somebody last began to watch

  void add(std::int64_t bytes) {
    alive += bytes;
    if (alive > most) most = alive;
  }
  void remove(std::int64_t bytes) { alive -= bytes; }
};

/// This thread's.
inline TensorBytes& tensor_bytes() {
  thread_local TensorBytes bytes;
  return bytes;
}

/// What this thread allocates from now on. One at a time.
class TensorWatch {
 public:
  TensorWatch() : before_(tensor_bytes().alive) { tensor_bytes().most = before_; }

  /// The most that lived at once, and what lives now.
  std::int64_t most() const { return tensor_bytes().most - before_; }
  std::int64_t now() const { return tensor_bytes().alive - before_; }

 private:
  std::int64_t before_;
};

}  // namespace paretopipe::stage
