#include <paretopipe/wire/addresses.hpp>
#include <paretopipe/wire/descriptor.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/poll.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>

namespace paretopipe::wire {
namespace {

using namespace std::chrono_literals;

/// A name may have an address that swallows packets (often IPv6), which must not use up the others' time.
constexpr auto kLongestTry = 5s;
/// Nothing announces that a remote port has opened, so the only way to know is to try again.
constexpr auto kPause = 20ms;

/// Whether waiting can help: the other side or its network is still starting.
bool may_pass(int error) {
  constexpr std::array passing{ECONNREFUSED, ECONNRESET,    EPIPE,  ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN,
                               ENETDOWN,     EADDRNOTAVAIL, EAGAIN, EINTR,     EINPROGRESS,  ECONNABORTED};
  return std::ranges::find(passing, error) != passing.end();
}

bool same(const Address& a, const Address& b) {
  return a.size == b.size && std::memcmp(&a.storage, &b.storage, a.size) == 0;
}

int pending_error(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

/// 0, or the errno of the failure.
int finish_connecting(int fd, const Address& address, Clock::time_point deadline) {
  if (::connect(fd, address.get(), address.size) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    std::array waiting{pollfd{fd, POLLOUT, 0}};
    while (poll_until(waiting, deadline) == 0) {
      if (Clock::now() >= deadline) return ETIMEDOUT;
    }
    if (const int error = pending_error(fd); error != 0) return error;
  }
  const auto peer = peer_address(fd);
  if (!peer) return ECONNRESET;
  // The kernel may choose the called port as the caller's own. If nobody listens there, TCP's simultaneous open (RFC
  // 9293, 3.5) then connects the socket to itself. On loopback a few thousand tries suffice.
  return same(*peer, local_address(fd)) ? ECONNREFUSED : 0;
}

int greet(int fd, std::uint64_t token) {
  const HeaderBytes greeting = encode(Greeting{token});
  const auto sent = ::send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL);
  if (sent < 0) return errno;
  // An empty socket buffer takes all 64 bytes. If one does not, the connection is closed and made again.
  return static_cast<std::size_t>(sent) == greeting.size() ? 0 : EAGAIN;
}

int make_blocking(int fd) {
  return ::fcntl(fd, F_SETFL, 0) == 0 ? 0 : errno;
}

struct Try {
  std::optional<Link> link;  ///< greeted
  int error = 0;             ///< errno if there is none
};

Try try_once(const Address& address, std::uint64_t token, Clock::time_point deadline) {
  Descriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int error = fd.get() < 0 ? errno : finish_connecting(fd.get(), address, deadline);
  if (error == 0) error = greet(fd.get(), token);
  if (error == 0) error = make_blocking(fd.get());
  if (error != 0) return {std::nullopt, error};
  return {Link(fd.release()), 0};
}

}  // namespace

Link connect_peer(const std::string& host, std::uint16_t port, std::uint64_t token, Clock::time_point deadline) {
  const std::string attempt = fmt::format("connect to {}", host_and_port(host, port));
  const auto start = Clock::now();
  for (;;) {
    std::string reason = "the name cannot be resolved at present";
    for (const auto& address : resolve(host, port, false)) {
      auto attempted = try_once(address, token, std::min(deadline, Clock::now() + kLongestTry));
      if (attempted.link) return std::move(*attempted.link);
      if (!may_pass(attempted.error)) throw system_error(attempt, attempted.error);
      reason = fmt::format("{} ({})", std::generic_category().message(attempted.error), to_string(address));
    }
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

}  // namespace paretopipe::wire
