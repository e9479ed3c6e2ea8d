#pragma once
#include <paretopipe/core/clock.hpp>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace paretopipe {

/// Owns a file descriptor, or none (-1), and closes it at the end of life.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      descriptor_ = other.release();
    }
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return descriptor_; }

  /// Gives up ownership of the descriptor and returns it.
  int release() { return std::exchange(descriptor_, -1); }
  void reset() {
    if (descriptor_ >= 0) ::close(release());
  }

 private:
  int descriptor_ = -1;
};

/// Writes all bytes to a blocking descriptor. Returns 0, or the errno of the write that failed.
inline int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// The time until the deadline in milliseconds, for poll(2). It is rounded up, so that the deadline has passed when
/// poll times out. It is limited to an hour, because poll cannot count up to "never", which is time_point::max().
inline int poll_timeout(Clock::time_point deadline) {
  const auto now = Clock::now();  // compared first: time_point::min() minus it would overflow
  const auto rest = deadline > now ? std::min<Nanoseconds>(deadline - now, std::chrono::hours(1)) : Nanoseconds(0);
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(rest).count());
}

}  // namespace paretopipe
