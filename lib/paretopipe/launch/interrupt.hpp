#pragma once
#include <paretopipe/core/clock.hpp>

#include <span>
#include <string>

#include <poll.h>

namespace paretopipe::launch {

/// Turns SIGINT and SIGTERM into a pollable descriptor during its life; then restores the former behaviour. A second
/// signal ends the process at once, because a person who presses Ctrl-C twice means it (the kernel still ends the
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

/// poll(2) that a person can interrupt. Returns the number of `events` that are ready, and 0 only after the deadline.
/// `interrupt_descriptor` is an InterruptGuard's, or -1 if nobody can interrupt. Throws Interrupted if it is readable,
/// even if something else is ready too. Throws EnvironmentError, which begins with `attempt`, if the kernel refuses.
/// Clock::time_point::max() waits for ever.
int poll_interruptibly(std::span<pollfd> events, Clock::time_point deadline, int interrupt_descriptor,
                       const std::string& attempt);

}  // namespace paretopipe::launch
