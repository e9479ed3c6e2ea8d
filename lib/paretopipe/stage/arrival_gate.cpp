#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/arrival_gate.hpp>

namespace paretopipe::stage {

bool ArrivalGate::enter(std::int64_t moment_ns) {
  const Clock::time_point moment{Nanoseconds(moment_ns)};
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, moment, [this] { return closed_; })) return false;
  changed_.wait(lock, [this] { return closed_ || free_ > 0; });
  if (closed_) return false;
  --free_;
  return true;
}

void ArrivalGate::leave() {
  {
    const std::lock_guard lock(mutex_);
    ++free_;
  }
  changed_.notify_all();
}

void ArrivalGate::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace paretopipe::stage
