#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>

#include "sockets.hpp"

namespace paretopipe::wire {

namespace {

using namespace std::chrono_literals;

/// Long enough for a greeting to be lost and sent again on a poor network. A silent caller costs only a descriptor.
constexpr auto kTimeToGreet = 10s;
/// More than this many callers without a greeting are a scan or a flood: the one that has been silent longest goes.
constexpr std::size_t kMaxCallers = 64;
constexpr int kBacklog = 128;

}  // namespace

/// A caller who has connected but not yet greeted.
struct Caller {
  FileDescriptor fd;
  Clock::time_point deadline;
  std::size_t got = 0;
  HeaderBytes greeting{};

  /// Reads the available bytes, never past the greeting, without waiting. False: the stream has ended.
  bool read_more() {
    const auto rest = std::span(greeting).subspan(got);
    const auto count = ::recv(fd.get(), rest.data(), rest.size(), MSG_DONTWAIT);
    if (count > 0) got += static_cast<std::size_t>(count);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }
};

namespace {

[[noreturn]] void cannot_listen(const std::string& name, int error) {
  std::string advice = "choose an address of this host";
  if (error == EADDRINUSE) advice = "stop the program that has the port (ss -ltnp shows it), or choose another port";
  if (error == EACCES) advice = "choose a port above 1023";
  throw EnvironmentError(fmt::format("{}; {}", system_error("listen on " + name, error).what(), advice));
}

FileDescriptor listen_on(const Address& address) {
  FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Connections of an earlier run may linger for a minute (TIME_WAIT). On Linux this option does not share the port
  // with another listener.
  const int on = 1;
  const bool done = fd.get() >= 0 && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
                    ::bind(fd.get(), address.get(), address.size) == 0 && ::listen(fd.get(), kBacklog) == 0;
  if (!done) cannot_listen(to_string(address), errno);
  return fd;
}

}  // namespace

struct Listener::Impl {
  FileDescriptor fd;
  std::string name;
  std::uint16_t port = 0;
  std::vector<Caller> callers;  ///< in the order of their connections

  void admit();
  void wait(Clock::time_point deadline);
};

/// Accepts all pending connections, without waiting.
void Listener::Impl::admit() {
  for (;;) {
    FileDescriptor caller(::accept4(fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (caller.get() >= 0) {
      callers.push_back({std::move(caller), Clock::now() + kTimeToGreet});
    } else if (errno == EAGAIN) {
      return;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      throw system_error("accept a connection on " + name, errno);
    }
    // Any other error (ECONNABORTED, a network error) ends only that connection: see accept(2).
  }
}

void Listener::Impl::wait(Clock::time_point deadline) {
  std::vector<pollfd> waiting{{fd.get(), POLLIN, 0}};
  for (const auto& caller : callers) {
    waiting.push_back({caller.fd.get(), POLLIN, 0});
    deadline = std::min(deadline, caller.deadline);
  }
  poll_until(waiting, deadline);
}

namespace {

/// One call of accept_peer: the awaited peer, and the callers turned away meanwhile.
class Reception {
 public:
  explicit Reception(std::uint64_t token) : token_(token) {}

  /// Reads from every caller once. The awaited peer leaves the list as a link; strangers are disconnected.
  std::optional<Link> hear(std::vector<Caller>& callers) {
    for (auto caller = callers.begin(); caller != callers.end();) {
      const bool open = caller->read_more();
      const bool complete = caller->got == kHeaderBytes;
      if (complete && greets_rightly(*caller)) {
        Link link(caller->fd.release());
        callers.erase(caller);
        return link;
      }
      if (!open) turn_away(fmt::format("it closed after {} of {} bytes of a greeting", caller->got, kHeaderBytes));
      caller = open && !complete ? std::next(caller) : callers.erase(caller);
    }
    return std::nullopt;
  }

  void dismiss_the_silent(std::vector<Caller>& callers) {
    const auto now = Clock::now();
    while (callers.size() > kMaxCallers || (!callers.empty() && callers.front().deadline <= now)) {
      turn_away("it said nothing");
      callers.erase(callers.begin());
    }
  }

  [[noreturn]] void give_up(const std::string& listener, std::size_t silent) const {
    const std::string strangers = turned_away_ == 0
                                      ? std::string("nobody was turned away")
                                      : fmt::format("{} turned away, the last because {}", turned_away_, last_reason_);
    throw EnvironmentError(fmt::format(
        "wait for a peer on {}: none came in time ({}; {} connected without a word); check that the other side is "
        "running and was told this address",
        listener, strangers, silent));
  }

 private:
  bool greets_rightly(const Caller& caller) {
    try {
      const FrameHeader header = decode(caller.greeting);
      const auto* greeting = std::get_if<Greeting>(&header);
      if (greeting != nullptr && greeting->token == token_) return true;
      turn_away(greeting != nullptr ? "it had another token" : "it sent a " + to_string(header));
    } catch (const ProtocolError& error) {
      turn_away(error.what());
    }
    return false;
  }

  void turn_away(std::string reason) {
    ++turned_away_;
    last_reason_ = std::move(reason);
  }

  std::uint64_t token_;
  std::size_t turned_away_ = 0;
  std::string last_reason_;
};

}  // namespace

Listener::Listener(const std::string& address, std::uint16_t port) : impl_(std::make_unique<Impl>()) {
  const auto candidates = resolve(address, port, true);
  if (candidates.empty()) throw EnvironmentError("listen on " + host_and_port(address, port) + ": no such address");
  impl_->fd = listen_on(candidates.front());
  const Address bound = local_address(impl_->fd.get());
  impl_->name = to_string(bound);
  impl_->port = port_of(bound);
}

Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&&) noexcept = default;
Listener::~Listener() = default;

std::uint16_t Listener::port() const {
  return impl_->port;
}
const std::string& Listener::name() const {
  return impl_->name;
}
int Listener::native_handle() const {
  return impl_->fd.get();
}

Link accept_peer(Listener& listener, std::uint64_t token, Clock::time_point deadline) {
  auto& impl = *listener.impl_;
  Reception reception(token);
  for (;;) {
    impl.admit();
    if (auto link = reception.hear(impl.callers)) return std::move(*link);
    reception.dismiss_the_silent(impl.callers);
    if (Clock::now() >= deadline) reception.give_up(impl.name, impl.callers.size());
    impl.wait(deadline);
  }
}

namespace {

/// A name may have an address that swallows packets (often IPv6), which must not use up the others' time.
constexpr auto kLongestTry = 5s;
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
  FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
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
