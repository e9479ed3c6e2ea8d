#pragma once
#include <paretopipe/launch/file_descriptor.hpp>
#include <paretopipe/shaping/emulated/lane.hpp>
#include <paretopipe/shaping/emulated/target.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <poll.h>

// Internal to shaping.
namespace paretopipe::shaping {

/// The conditions of both directions of a link, and the seeds of their random sequences.
struct EmulatedConditions {
  config::LinkConditions forward;
  config::LinkConditions backward;
  std::uint64_t seed = 0;
};

/// One connection through the link: the caller's socket, the socket to the target, and a lane each way.
class EmulatedConnection {
 public:
  /// `number`: of this connection within the link, so that each has its own random sequences.
  EmulatedConnection(launch::FileDescriptor caller, const EmulatedConditions& conditions, std::uint64_t number);

  void set_conditions(const EmulatedConditions& conditions);

  bool has_target() const { return target_.get() >= 0; }
  void connect_to(const EmulatedTarget& target);

  /// What to wait for on the caller's socket and the target's.
  std::array<pollfd, 2> waits_for() const;
  Clock::time_point next_due() const;

  /// Does everything possible without waiting. `ready` is the result of waits_for(); `lateness` counts what is passed
  /// on.
  void advance(std::span<const pollfd, 2> ready, LatenessMeter& lateness);

  /// Whether the connection is finished.
  bool over() const { return over_; }
  /// Why the target was not reached; empty otherwise.
  const std::string& failure() const { return failure_; }

 private:
  void finish_connecting();
  void relay(EmulatedLane& lane, EmulatedLane& opposite, const pollfd& from, const pollfd& to, LatenessMeter& lateness);
  void end_if_done();
  void end(bool broken);
  void fail(int error);

  launch::FileDescriptor caller_;
  launch::FileDescriptor target_;
  std::uint64_t number_;
  EmulatedLane forward_;
  EmulatedLane backward_;
  std::string target_name_;
  std::string failure_;
  bool connected_ = false;
  bool over_ = false;
};

}  // namespace paretopipe::shaping
