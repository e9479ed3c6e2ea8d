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

/// What both directions of a link do, and where their random sequences begin.
struct EmulatedConditions {
  config::LinkConditions forward;
  config::LinkConditions backward;
  std::uint64_t seed = 0;
};

/// One connection through the link: the socket of who called, the socket to the target, a lane each way.
class EmulatedConnection {
 public:
  /// `number`: of this connection among the link's, so that each has random sequences of its own.
  EmulatedConnection(launch::FileDescriptor caller, const EmulatedConditions& conditions, std::uint64_t number);

  void set_conditions(const EmulatedConditions& conditions);

  bool has_target() const { return target_.get() >= 0; }
  void connect_to(const EmulatedTarget& target);

  /// What to wait for: the caller's socket and the target's.
  std::array<pollfd, 2> waits_for() const;
  Clock::time_point next_due() const;

  /// Does what can be done without waiting. `ready` is what came of waits_for(); `lateness` counts what is handed on.
  void advance(std::span<const pollfd, 2> ready, LatenessMeter& lateness);

  /// Nothing more will come of it.
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
