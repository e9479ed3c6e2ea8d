#pragma once
#include <paretopipe/shaping/emulated/byte_queue.hpp>
#include <paretopipe/shaping/emulated/lateness.hpp>
#include <paretopipe/shaping/emulated/schedule.hpp>

#include <deque>
#include <optional>

// Internal to shaping.
namespace paretopipe::shaping {

/// One direction of one connection: takes bytes from one socket, holds each until its time, and gives them to the
/// other. Never waits. Holds the end of the stream, or its loss, as long as bytes.
class EmulatedLane {
 public:
  EmulatedLane(const config::LinkConditions& conditions, std::uint64_t seed);

  /// Applies to everything that arrives from now on.
  void set_conditions(const config::LinkConditions& conditions, std::uint64_t seed);

  bool wants_to_read() const { return state_ == State::open && end_ == End::none && held_.size() < limit_; }
  /// The receiver's socket is full: nothing can be passed on until it is writable.
  bool blocked() const { return blocked_; }
  /// When there is something to write: in the past if at once; time_point::max() if only after a read, or when the
  /// receiver's socket becomes writable.
  Clock::time_point next_due() const;

  /// Reads the available bytes, but only part of a flood: others want their turn.
  void read_from(int socket);

  /// Writes what is due at `now` and records its lateness. Bytes that fell due while the receiver's socket was full are
  /// not recorded: no relay can deliver what nobody takes.
  void write_to(int socket, Clock::time_point now, LatenessMeter& lateness);

  /// The socket that this lane reads from is lost, so its end is not an orderly one.
  void sender_is_lost() { sender_lost_ = true; }

  /// Open, or the last thing passed on: the stream's orderly end or the sender's loss; or there is no receiver any
  /// more.
  enum class State { open, ended, sender_lost, receiver_lost };
  State state() const { return state_; }

 private:
  enum class End { none, orderly, reset };
  struct Piece {
    Clock::time_point due;
    std::size_t bytes;
  };

  void schedule(std::size_t bytes);
  void end(End how);
  bool pass_on(int socket);
  void pass_on_the_end(int socket);
  void break_off();

  EmulatedSchedule schedule_;
  std::size_t piece_;
  std::size_t limit_;
  EmulatedByteQueue held_;
  std::deque<Piece> pieces_;  ///< not due yet, oldest first
  std::size_t due_ = 0;       ///< number of held bytes that may be passed on now
  Clock::time_point end_due_{};
  End end_ = End::none;
  bool blocked_ = false;
  bool sender_lost_ = false;
  State state_ = State::open;
};

}  // namespace paretopipe::shaping
