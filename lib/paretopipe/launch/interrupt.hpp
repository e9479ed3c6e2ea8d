#pragma once

namespace paretopipe::launch {

/// Turns SIGINT and SIGTERM into a descriptor to poll on, for as long as it lives; then the former behaviour returns. A
/// second signal ends the process at once: a person who presses Ctrl-C twice means it (the kernel still ends the
/// children). At most one object at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Readable once a signal has come.
  int descriptor() const;
  bool requested() const;
};

}  // namespace paretopipe::launch
