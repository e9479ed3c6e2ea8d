#include "lane.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace paretopipe::shaping {

namespace {

/// The most that one turn reads or writes, about 0.1 ms of work: bytes fall due in other lanes while a sender floods
/// one.
constexpr std::size_t kTurn = 256 << 10;

bool try_again(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

EmulatedLane::EmulatedLane(const experiment::LinkConditions& conditions, std::uint64_t seed)
    : schedule_(conditions, seed),
      piece_(static_cast<std::size_t>(piece_bytes(conditions))),
      limit_(buffer_limit(conditions)) {}

void EmulatedLane::set_conditions(const experiment::LinkConditions& conditions, std::uint64_t seed) {
  schedule_.set_conditions(conditions, seed);
  piece_ = static_cast<std::size_t>(piece_bytes(conditions));
  limit_ = buffer_limit(conditions);
}

Clock::time_point EmulatedLane::next_due() const {
  if (state_ != State::open || blocked_) return Clock::time_point::max();
  if (due_ > 0) return Clock::time_point::min();
  if (!pieces_.empty()) return pieces_.front().due;
  return end_ == End::none ? Clock::time_point::max() : end_due_;
}

void EmulatedLane::read_from(int socket) {
  for (std::size_t taken = 0; taken < kTurn && wants_to_read();) {
    const auto room = held_.room(limit_ - held_.size());
    const auto count = ::recv(socket, room.data(), room.size(), MSG_DONTWAIT);
    if (count < 0 && try_again(errno)) return;
    if (count < 0) return end(End::reset);
    if (count == 0) return end(sender_lost_ ? End::reset : End::orderly);
    const auto bytes = static_cast<std::size_t>(count);
    held_.push(bytes);
    schedule(bytes);
    taken += bytes;
    if (bytes < room.size()) return;
  }
}

/// Call this after reading the bytes, so that no byte counts as arrived before it was sent.
void EmulatedLane::schedule(std::size_t bytes) {
  const auto arrival = Clock::now();
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, piece_);
    pieces_.push_back({schedule_.deliver(arrival, static_cast<std::int64_t>(piece)), piece});
    bytes -= piece;
  }
}

void EmulatedLane::end(End how) {
  end_ = how;
  end_due_ = schedule_.deliver(Clock::now(), 0);
}

void EmulatedLane::write_to(int socket, Clock::time_point now, LatenessMeter& lateness) {
  if (state_ != State::open) return;
  for (; !pieces_.empty() && pieces_.front().due <= now; pieces_.pop_front()) {
    due_ += pieces_.front().bytes;
    if (!blocked_) lateness.add(now - pieces_.front().due);
  }
  blocked_ = false;
  if (!pass_on(socket)) {
    break_off();
  } else if (held_.size() == 0 && end_ != End::none && end_due_ <= now) {
    pass_on_the_end(socket);
  }
}

/// False if the receiver is lost.
bool EmulatedLane::pass_on(int socket) {
  for (std::size_t given = 0; given < kTurn && due_ > 0;) {
    const auto bytes = held_.front(due_);
    const auto count = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      blocked_ = try_again(errno);
      return blocked_;
    }
    held_.pop(static_cast<std::size_t>(count));
    due_ -= static_cast<std::size_t>(count);
    given += static_cast<std::size_t>(count);
  }
  return true;
}

void EmulatedLane::pass_on_the_end(int socket) {
  state_ = end_ == End::orderly ? State::ended : State::sender_lost;
  // Fails only if the receiver is already lost, which then shows in the other direction.
  if (end_ == End::orderly) ::shutdown(socket, SHUT_WR);
}

void EmulatedLane::break_off() {
  state_ = State::receiver_lost;
  held_.clear();
  pieces_.clear();
  due_ = 0;
}

}  // namespace paretopipe::shaping
