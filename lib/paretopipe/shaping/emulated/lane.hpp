#pragma once
#include <paretopipe/shaping/emulated/schedule.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>

namespace paretopipe::shaping {

// Internal to shaping.

/// Bytes in first-in, first-out order, in blocks that are allocated as they fill and freed as they empty. Sockets read
/// into it and write from it without an intermediate copy.
class EmulatedByteQueue {
 public:
  static constexpr std::size_t kBlock = 64 << 10;

  std::size_t size() const { return size_; }

  /// The space for the next bytes: at most `most` (1 or more), within one block. Valid until the next call.
  std::span<std::byte> room(std::size_t most) {
    if (blocks_.empty() || end_ == kBlock) {
      blocks_.push_back(spare_ ? std::move(spare_) : std::make_unique_for_overwrite<Block>());
      end_ = 0;
    }
    return std::span(*blocks_.back()).subspan(end_, std::min(most, kBlock - end_));
  }

  /// Adds the first `count` bytes of room(), which have been filled.
  void push(std::size_t count) {
    end_ += count;
    size_ += count;
  }

  /// The oldest bytes: at most `most`, within one block. Not when it is empty.
  std::span<const std::byte> front(std::size_t most) const {
    const std::size_t end = blocks_.size() == 1 ? end_ : kBlock;
    return std::span(*blocks_.front()).subspan(begin_, std::min(most, end - begin_));
  }

  /// Removes the first `count` bytes of front().
  void pop(std::size_t count) {
    begin_ += count;
    size_ -= count;
    const bool emptied = size_ == 0 || begin_ == kBlock;
    if (!emptied) return;
    spare_ = std::move(blocks_.front());
    blocks_.pop_front();
    begin_ = 0;
  }

  void clear() {
    while (size_ > 0) pop(front(size_).size());
  }

 private:
  using Block = std::array<std::byte, kBlock>;

  std::deque<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Block> spare_;  ///< the last emptied block: a stream at rest allocates nothing
  std::size_t begin_ = 0;         ///< of the oldest bytes, in the first block
  std::size_t end_ = 0;           ///< of the newest bytes, in the last block
  std::size_t size_ = 0;
};

/// One direction of one connection: takes bytes from one socket, holds each until its time, and gives them to the
/// other. Never waits. Holds the end of the stream, or its loss, as long as bytes.
class EmulatedLane {
 public:
  EmulatedLane(const experiment::LinkConditions& conditions, std::uint64_t seed);

  /// Applies to everything that arrives from now on.
  void set_conditions(const experiment::LinkConditions& conditions, std::uint64_t seed);

  bool wants_to_read() const { return state_ == State::open && end_ == End::none && held_.size() < limit_; }
  /// True while the receiver's socket is full. Nothing can be passed on until it is writable.
  bool blocked() const { return blocked_; }
  /// When there is something to write. In the past: at once. time_point::max(): only after a read, or when the
  /// receiver's socket becomes writable.
  Clock::time_point next_due() const;

  /// Reads the available bytes, but only part of a flood: others want their turn.
  void read_from(int socket);

  /// Writes what is due at `now` and records its lateness. Bytes that fell due while the receiver's socket was full are
  /// not recorded: no relay can deliver what nobody takes.
  void write_to(int socket, Clock::time_point now, LatenessMeter& lateness);

  /// The socket that this lane reads from is lost, so its end is not an orderly one.
  void sender_is_lost() { sender_lost_ = true; }

  /// Open, or how the lane ended: it passed on the stream's orderly end or the sender's loss, or its receiver is lost.
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
