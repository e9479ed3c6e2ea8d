#pragma once
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/wire/sockets.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <poll.h>
#include <sys/socket.h>

#include "lane.hpp"

namespace paretopipe::shaping {

// Internal to shaping.

/// The destination of a link.
struct EmulatedTarget {
  wire::Address address;
  std::string name;  ///< "127.0.0.1:5000", as requested
};

/// `ip` is an IP address; throws EnvironmentError for anything else.
EmulatedTarget find_target(const std::string& ip, std::uint16_t port);

/// A non-blocking socket that is connecting to the target. It becomes writable when the outcome is known. If `error` is
/// not 0, it has failed.
FileDescriptor start_connecting(const EmulatedTarget& target, int& error);

/// For every relaying socket: sends small pieces at once.
void send_at_once(int socket);

/// Makes closing the socket tell the peer that the connection was lost, not that it ended.
void reset_on_close(int socket);

/// The conditions of both directions of a link, and the seeds of their random sequences.
struct EmulatedConditions {
  experiment::LinkConditions forward;
  experiment::LinkConditions backward;
  std::uint64_t seed = 0;
};

/// One connection through the link: the caller's socket, the socket to the target, and a lane each way.
class EmulatedConnection {
 public:
  /// `number`: this connection's within the link, so that each has its own random sequences.
  EmulatedConnection(FileDescriptor caller, const EmulatedConditions& conditions, std::uint64_t number);

  void set_conditions(const EmulatedConditions& conditions);

  bool has_target() const { return target_.get() >= 0; }
  void connect_to(const EmulatedTarget& target);

  /// What to wait for on the caller's socket and the target's.
  std::array<pollfd, 2> waits_for() const;
  Clock::time_point next_due() const;

  /// Does everything possible without waiting. `ready` is the result of waits_for(); `lateness` counts what is passed
  /// on.
  void advance(std::span<const pollfd, 2> ready, LatenessMeter& lateness);

  /// True if the connection is finished.
  bool over() const { return over_; }
  /// Why the target was not reached; empty otherwise.
  const std::string& failure() const { return failure_; }

 private:
  void finish_connecting();
  void relay(EmulatedLane& lane, EmulatedLane& opposite, const pollfd& from, const pollfd& to, LatenessMeter& lateness);
  void end_if_done();
  void end(bool broken);
  void fail(int error);

  FileDescriptor caller_;
  FileDescriptor target_;
  std::uint64_t number_;
  EmulatedLane forward_;
  EmulatedLane backward_;
  std::string target_name_;
  std::string failure_;
  bool connected_ = false;
  bool over_ = false;
};

}  // namespace paretopipe::shaping
