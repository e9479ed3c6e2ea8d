#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/handshake.hpp>
#include <paretopipe/wire/rendezvous.hpp>
#include <paretopipe/wire/tls.hpp>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>

#include "sockets.hpp"

namespace paretopipe::wire {

namespace {

using namespace std::chrono_literals;

/// A name may have an address that swallows packets (often IPv6), which must not use up the others' time.
constexpr auto kLongestTry = 5s;
/// The time from the connection to the proof, as long as the acceptor waits. Then the next address is tried, or the
/// same one again.
constexpr auto kTimeToAnswer = 10s;
/// Nothing announces that a remote port has opened, so the only way to know is to try again.
constexpr auto kPause = 20ms;

/// True if waiting can help: the other side or its network is still starting.
bool may_pass(int error) {
  constexpr std::array passing{ECONNREFUSED, ECONNRESET,    EPIPE,  ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN,
                               ENETDOWN,     EADDRNOTAVAIL, EAGAIN, EINTR,     EINPROGRESS,  ECONNABORTED};
  return std::ranges::find(passing, error) != passing.end();
}

/// 0, or the errno of the failure.
int finish_connecting(int fd, const Address& address, Clock::time_point deadline) {
  if (::connect(fd, address.get(), address.size) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    std::array waiting{pollfd{fd, POLLOUT, 0}};
    while (poll_until(waiting, deadline) == 0) {
      if (Clock::now() >= deadline) return ETIMEDOUT;
    }
  }
  return outcome_of_connecting(fd);
}

int make_blocking(int fd) {
  return ::fcntl(fd, F_SETFL, 0) == 0 ? 0 : errno;
}

/// An empty socket buffer takes a whole frame. If one does not, the connection is closed and made again.
int send_frame(int fd, const FrameHeader& frame) {
  const HeaderBytes bytes = encode(frame);
  const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno;
  return static_cast<std::size_t>(sent) == bytes.size() ? 0 : EAGAIN;
}

/// True if the bytes can still become a frame. Another program often sends less than 64 bytes and then waits.
bool begins_like_a_frame(std::span<const std::byte> bytes) {
  const HeaderBytes one = encode(Challenge{});
  const auto preamble = std::min<std::size_t>(bytes.size(), 4);
  return std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(preamble), one.begin());
}

/// 0, or the errno of the failure. Throws ProtocolError for bytes that are no frame.
int receive_frame(int fd, FrameHeader& frame, Clock::time_point deadline) {
  HeaderBytes bytes{};
  for (std::size_t got = 0; got < bytes.size();) {
    const auto count = ::recv(fd, bytes.data() + got, bytes.size() - got, MSG_DONTWAIT);
    if (count == 0) return ECONNRESET;
    if (count > 0) got += static_cast<std::size_t>(count);
    if (!begins_like_a_frame(std::span(bytes).first(got))) break;
    if (count > 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    if (Clock::now() >= deadline) return ETIMEDOUT;
    std::array waiting{pollfd{fd, POLLIN, 0}};
    poll_until(waiting, deadline);
  }
  frame = decode(bytes);
  return 0;
}

template <class Frame>
int receive(int fd, Frame& frame, Clock::time_point deadline) {
  FrameHeader header;
  if (const int error = receive_frame(fd, header, deadline); error != 0) return error;
  const auto* wanted = std::get_if<Frame>(&header);
  if (wanted == nullptr) {
    throw ProtocolError(fmt::format("expected a {}, got a {}", to_string(FrameHeader(Frame{})), to_string(header)));
  }
  frame = *wanted;
  return 0;
}

/// 0, or the errno of the failure. Throws ProtocolError if the other side is no peer.
int exchange_proofs(int fd, const LinkSecurity& security, Challenges& challenges, Clock::time_point deadline) {
  Proof proof;
  int error = send_frame(fd, challenges.connector);
  if (error == 0) error = receive(fd, challenges.acceptor, deadline);
  if (error == 0) error = receive(fd, proof, deadline);
  if (error != 0) return error;
  if (!proves(proof, Side::acceptor, security, challenges)) {
    throw ProtocolError(fmt::format("the peer there does not have this run's key{}{}; check the address and the port",
                                    security.purpose.empty() ? "" : " for the link from ", security.purpose));
  }
  return send_frame(fd, proof_of(Side::connector, security, challenges));
}

struct Try {
  std::optional<Link> link;  ///< to a peer that has the key
  int error = 0;             ///< errno if there is none
  bool connected = false;
};

Try try_once(const Address& address, const LinkSecurity& security, Clock::time_point deadline) {
  FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  Try result;
  const auto connected_by = std::min(deadline, Clock::now() + kLongestTry);
  result.error = fd.get() < 0 ? errno : finish_connecting(fd.get(), address, connected_by);
  result.connected = result.error == 0;
  const auto answered_by = std::min(deadline, Clock::now() + kTimeToAnswer);
  Challenges challenges{new_challenge(), {}};
  if (result.error == 0) result.error = exchange_proofs(fd.get(), security, challenges, answered_by);
  if (result.error == 0) result.error = make_blocking(fd.get());
  if (result.error != 0) return result;
  std::unique_ptr<TlsStream> tls;
  if (security.tls) tls = TlsStream::connect(fd.get(), connection_key(security, challenges), answered_by);
  result.link.emplace(fd.release(), std::move(tls));
  return result;
}

std::string reason_of(const Try& attempted) {
  if (attempted.connected && attempted.error == ECONNRESET) return "the other side hung up before it proved anything";
  if (attempted.connected && attempted.error == ETIMEDOUT) return "the other side does not answer";
  return std::generic_category().message(attempted.error);
}

/// Tries the addresses in order. Nothing if none can be reached; `reason` then says why, if waiting can help for one of
/// them. Otherwise throws EnvironmentError.
std::optional<Link> try_all(const std::vector<Address>& addresses, const LinkSecurity& security,
                            Clock::time_point deadline, const std::string& attempt, std::string& reason) {
  std::string passing;
  std::optional<int> lasting;
  for (const auto& address : addresses) {
    try {
      auto attempted = try_once(address, security, deadline);
      if (attempted.link) return std::move(attempted.link);
      if (may_pass(attempted.error)) {
        passing = fmt::format("{} ({})", reason_of(attempted), to_string(address));
      } else {
        lasting = attempted.error;
      }
    } catch (const ProtocolError& error) {
      throw EnvironmentError(fmt::format("{}: {}", attempt, error.what()));
    }
  }
  if (passing.empty() && lasting) throw system_error(attempt, *lasting);
  if (!passing.empty()) reason = passing;
  return std::nullopt;
}

}  // namespace

Link connect_peer(const std::string& host, std::uint16_t port, const LinkSecurity& security,
                  Clock::time_point deadline) {
  const std::string attempt = fmt::format("connect to {}", host_and_port(host, port));
  const auto start = Clock::now();
  for (;;) {
    std::string reason = "the name cannot be resolved at present";
    if (auto link = try_all(resolve(host, port, false), security, deadline, attempt, reason)) return std::move(*link);
    const auto now = Clock::now();
    if (now >= deadline) {
      throw EnvironmentError(fmt::format(
          "{}: {}, tried for {:.1f} s; check that the other side is running, that the port is right and that no "
          "firewall is between",
          attempt, reason, std::chrono::duration<double>(now - start).count()));
    }
    poll_until({}, std::min(deadline, now + kPause));
  }
}

namespace {

/// Why nobody was accepted; empty if somebody was, or if this side gave it up.
std::string failure_of(std::future<Link>& accepted) {
  try {
    accepted.get();
  } catch (const Closed&) {
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

RingLinks join_ring(Listener& listener, const RingPlace& place, Clock::time_point deadline) {
  auto accepted = std::async(std::launch::async, [&] { return accept_peer(listener, place.incoming, deadline); });
  std::optional<Link> next;
  try {
    next = connect_peer(place.next_host, place.next_port, place.outgoing, deadline);
  } catch (const Error& error) {
    if (Clock::now() < deadline) listener.shutdown();  // at the deadline the other side ends by itself, with a reason
    const auto other = failure_of(accepted);
    listener.shutdown();
    throw Error(error.code(), error.what() + (other.empty() ? "" : "; and: " + other));
  }
  return {accepted.get(), *std::move(next)};
}

}  // namespace paretopipe::wire
