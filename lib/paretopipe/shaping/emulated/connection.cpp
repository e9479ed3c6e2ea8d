#include "connection.hpp"

#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <netdb.h>

namespace paretopipe::shaping {

EmulatedTarget find_target(const std::string& ip, std::uint16_t port) {
  EmulatedTarget target;
  target.name = wire::host_and_port(ip, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  const int failure = ::getaddrinfo(ip.c_str(), std::to_string(port).c_str(), &hints, &first);
  if (failure != 0) {
    throw EnvironmentError(
        fmt::format("lead an emulated link to {}: {}; give an IP address", target.name, ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, ::freeaddrinfo);
  std::memcpy(&target.address.storage, first->ai_addr, first->ai_addrlen);
  target.address.size = first->ai_addrlen;
  return target;
}

FileDescriptor start_connecting(const EmulatedTarget& target, int& error) {
  FileDescriptor socket(::socket(target.address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  error = 0;
  if (socket.get() < 0) {
    error = errno;
  } else if (::connect(socket.get(), target.address.get(), target.address.size) != 0 && errno != EINPROGRESS &&
             errno != EINTR) {
    error = errno;
  }
  return socket;
}

void send_at_once(int socket) {
  const int on = 1;
  // Fails only for a connection that is already lost.
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void reset_on_close(int socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

namespace {

using State = EmulatedLane::State;

/// Spreads seeds that are close together (the golden ratio's bits, as in SplitMix64), and separates the directions.
std::uint64_t seed_of(const EmulatedConditions& conditions, std::uint64_t number, bool forward) {
  return conditions.seed + 0x9e3779b97f4a7c15U * (2 * number + (forward ? 1 : 2));
}

/// Leaves the socket out if there is nothing to wait for: poll reports a hang-up repeatedly, even unasked.
pollfd wait_for(int socket, bool read, bool write) {
  const auto events = static_cast<short>((read ? POLLIN : 0) | (write ? POLLOUT : 0));
  return {events != 0 ? socket : -1, events, 0};
}

}  // namespace

EmulatedConnection::EmulatedConnection(FileDescriptor caller, const EmulatedConditions& conditions,
                                       std::uint64_t number)
    : caller_(std::move(caller)),
      number_(number),
      forward_(conditions.forward, seed_of(conditions, number, true)),
      backward_(conditions.backward, seed_of(conditions, number, false)) {
  send_at_once(caller_.get());
}

void EmulatedConnection::set_conditions(const EmulatedConditions& conditions) {
  forward_.set_conditions(conditions.forward, seed_of(conditions, number_, true));
  backward_.set_conditions(conditions.backward, seed_of(conditions, number_, false));
}

void EmulatedConnection::connect_to(const EmulatedTarget& target) {
  target_name_ = target.name;
  int error = 0;
  target_ = start_connecting(target, error);
  if (error != 0) fail(error);
}

std::array<pollfd, 2> EmulatedConnection::waits_for() const {
  if (!connected_) return {wait_for(caller_.get(), false, false), wait_for(target_.get(), false, has_target())};
  return {wait_for(caller_.get(), forward_.wants_to_read(), backward_.blocked()),
          wait_for(target_.get(), backward_.wants_to_read(), forward_.blocked())};
}

Clock::time_point EmulatedConnection::next_due() const {
  return std::min(forward_.next_due(), backward_.next_due());
}

void EmulatedConnection::advance(std::span<const pollfd, 2> ready, LatenessMeter& lateness) {
  if (!connected_) {
    if (ready[1].revents != 0) finish_connecting();
    return;
  }
  relay(forward_, backward_, ready[0], ready[1], lateness);
  relay(backward_, forward_, ready[1], ready[0], lateness);
  end_if_done();
}

void EmulatedConnection::finish_connecting() {
  const int error = wire::outcome_of_connecting(target_.get());
  // A target that was reached and died at once is a lost sender. Its loss travels like any other.
  if (error == ECONNRESET) {
    backward_.sender_is_lost();
  } else if (error != 0) {
    return fail(error);
  }
  send_at_once(target_.get());
  connected_ = true;
}

void EmulatedConnection::relay(EmulatedLane& lane, EmulatedLane& opposite, const pollfd& from, const pollfd& to,
                               LatenessMeter& lateness) {
  // An error or a hang-up counts as readable and writable; the call then tells which it is.
  constexpr short kTrouble = POLLERR | POLLHUP | POLLNVAL;
  if ((from.revents & (POLLIN | kTrouble)) != 0 && lane.wants_to_read()) lane.read_from(from.fd);
  const bool writable = (to.revents & (POLLOUT | kTrouble)) != 0;
  if (lane.blocked() && !writable) return;
  const int socket = &lane == &forward_ ? target_.get() : caller_.get();
  lane.write_to(socket, Clock::now(), lateness);
  if (lane.state() == State::receiver_lost) opposite.sender_is_lost();
}

void EmulatedConnection::end_if_done() {
  const auto either = [&](State state) { return forward_.state() == state || backward_.state() == state; };
  // A sender's loss has by now travelled to the other side, which is told at once. A receiver's loss is still
  // travelling against the stream, behind what the receiver sent before, unless it had nothing more to send.
  if (either(State::sender_lost)) {
    end(true);
  } else if (!either(State::open)) {
    end(either(State::receiver_lost));
  }
}

void EmulatedConnection::end(bool broken) {
  if (broken) {
    reset_on_close(caller_.get());
    if (has_target()) reset_on_close(target_.get());
  }
  caller_.reset();
  target_.reset();
  over_ = true;
}

void EmulatedConnection::fail(int error) {
  failure_ = fmt::format("{}; check that the receiving side is listening there",
                         system_error("connect an emulated link to " + target_name_, error).what());
  end(true);
}

}  // namespace paretopipe::shaping
