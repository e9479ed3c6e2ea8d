#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/handshake.hpp>
#include <paretopipe/wire/rendezvous.hpp>
#include <paretopipe/wire/tls.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "sockets.hpp"

namespace paretopipe::wire {

namespace {

using namespace std::chrono_literals;

/// Long enough for a handshake to be lost and sent again on a poor network. A silent caller costs only a descriptor.
constexpr auto kTimeForHandshake = 10s;
/// More than this many callers who have not proved anything are a scan or a flood, and some of them are disconnected.
constexpr std::size_t kMaxCallers = 64;
constexpr int kBacklog = 128;

}  // namespace

/// A caller who has connected but not yet proved to have the key.
struct Caller {
  FileDescriptor fd;
  Clock::time_point deadline;
  std::size_t got = 0;
  HeaderBytes frame{};                     ///< the one that is being read
  std::optional<Challenges> challenges{};  ///< once the caller's has come and been answered

  /// Reads the available bytes, never past the frame, without waiting. False: the stream has ended.
  bool read_more() {
    const auto rest = std::span(frame).subspan(got);
    const auto count = ::recv(fd.get(), rest.data(), rest.size(), MSG_DONTWAIT);
    if (count > 0) got += static_cast<std::size_t>(count);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }

  /// An empty socket buffer takes both frames. A caller whose buffer does not is no peer.
  bool answer(const Challenge& challenge, const LinkSecurity& security) {
    challenges = {challenge, new_challenge()};
    got = 0;
    const std::array<HeaderBytes, 2> frames{encode(challenges->acceptor),
                                            encode(proof_of(Side::acceptor, security, *challenges))};
    return ::send(fd.get(), frames.data(), sizeof(frames), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(frames);
  }
};

namespace {

std::string name_of(const std::string& address, PortRange ports) {
  return ports.first == ports.last ? host_and_port(address, ports.first)
                                   : fmt::format("{}, ports {} to {}", address, ports.first, ports.last);
}

[[noreturn]] void cannot_listen(const std::string& name, PortRange ports, int error) {
  std::string advice = "choose an address of this host";
  if (error == EADDRINUSE) {
    advice = ports.first == ports.last
                 ? "stop the program that has the port (ss -ltnp shows it), or choose another port"
                 : "stop a program that has one of the ports (ss -ltnp shows them), or choose more of them";
  }
  if (error == EACCES) advice = "choose a port above 1023";
  throw EnvironmentError(fmt::format("{}; {}", system_error("listen on " + name, error).what(), advice));
}

/// Empty if it cannot listen; errno then has the reason.
FileDescriptor listen_on(const Address& address) {
  FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Connections of an earlier run may linger for a minute (TIME_WAIT). On Linux this option does not share the port
  // with another listener.
  const int on = 1;
  const bool done = fd.get() >= 0 && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
                    ::bind(fd.get(), address.get(), address.size) == 0 && ::listen(fd.get(), kBacklog) == 0;
  if (done) return fd;
  const int error = errno;
  fd.reset();
  errno = error;
  return fd;
}

/// Listens at the first free port of the range.
FileDescriptor listen_on_one_of(const std::string& address, PortRange ports) {
  if (ports.first > ports.last || (ports.first == 0 && ports.last != 0)) {
    throw UsageError(fmt::format("the ports {} to {} are no range: give the lower one first, or 0 to 0 for any",
                                 ports.first, ports.last));
  }
  for (int port = ports.first;; ++port) {
    const auto candidates = resolve(address, static_cast<std::uint16_t>(port), true);
    if (candidates.empty()) throw EnvironmentError("listen on " + name_of(address, ports) + ": no such address");
    auto fd = listen_on(candidates.front());
    if (fd.get() >= 0) return fd;
    const int error = errno;
    if (port == ports.last || (error != EADDRINUSE && error != EACCES)) {
      cannot_listen(name_of(address, ports), ports, error);
    }
  }
}

}  // namespace

struct Listener::Impl {
  FileDescriptor fd;
  std::string name;
  std::uint16_t port = 0;
  std::atomic<bool> shut_down = false;
  std::vector<Caller> callers;  ///< in the order of their connections

  void admit();
  void wait(Clock::time_point deadline);
};

/// Accepts pending connections, without waiting. It accepts no more at a time than the kernel queues, so that a flood
/// neither uses up the descriptors nor keeps callers from being heard.
void Listener::Impl::admit() {
  for (int accepted = 0; accepted < kBacklog; ++accepted) {
    if (shut_down) throw Closed("wait for a peer on " + name + ": it was given up on this side");
    FileDescriptor caller(::accept4(fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (caller.get() >= 0) {
      callers.push_back({std::move(caller), Clock::now() + kTimeForHandshake});
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
  Reception(const LinkSecurity& security, Clock::time_point deadline) : security_(security), deadline_(deadline) {}

  /// Reads from every caller once. The awaited peer leaves the list as a link; strangers are disconnected.
  std::optional<Link> hear(std::vector<Caller>& callers) {
    for (auto caller = callers.begin(); caller != callers.end();) {
      auto heard = hear(*caller);
      if (heard == Heard::peer) {
        if (auto link = make_link(*caller)) {
          callers.erase(caller);
          return link;
        }
        heard = Heard::stranger;
      }
      caller = heard == Heard::nothing_yet ? std::next(caller) : callers.erase(caller);
    }
    return std::nullopt;
  }

  void dismiss_the_silent(std::vector<Caller>& callers) {
    const auto now = Clock::now();
    while (!callers.empty() && callers.front().deadline <= now) {
      turn_away(callers.front().challenges ? "it stopped in the middle of the handshake" : "it said nothing");
      callers.erase(callers.begin());
    }
    while (callers.size() > kMaxCallers) {
      turn_away("it said nothing");
      callers.erase(least_likely(callers));
    }
  }

  [[noreturn]] void give_up(const std::string& listener, std::size_t unfinished) const {
    const std::string strangers = turned_away_ == 0
                                      ? std::string("nobody was turned away")
                                      : fmt::format("{} turned away, the last because {}", turned_away_, last_reason_);
    throw EnvironmentError(
        fmt::format("wait for a peer on {}: none came in time ({}; {} in the middle of the handshake); check that the "
                    "other side is "
                    "running and was told this address",
                    listener, strangers, unfinished));
  }

 private:
  enum class Heard { nothing_yet, peer, stranger };

  Heard hear(Caller& caller) {
    const bool open = caller.read_more();
    if (caller.got == kHeaderBytes) return judge(caller);
    if (open) return Heard::nothing_yet;
    return stranger(fmt::format("it closed after {} of {} bytes of a {}", caller.got, kHeaderBytes,
                                caller.challenges ? "proof" : "challenge"));
  }

  Heard judge(Caller& caller) {
    try {
      const FrameHeader header = decode(caller.frame);
      const auto* challenge = std::get_if<Challenge>(&header);
      const auto* proof = std::get_if<Proof>(&header);
      if (!caller.challenges && challenge != nullptr) {
        return caller.answer(*challenge, security_) ? Heard::nothing_yet : stranger("it takes no answer");
      }
      if (!caller.challenges || proof == nullptr) return stranger("it sent a " + to_string(header));
      if (proves(*proof, Side::connector, security_, *caller.challenges)) return Heard::peer;
      return stranger("it had another key");
    } catch (const ProtocolError& error) {
      return stranger(error.what());
    }
  }

  /// Agrees on encryption last, with a peer that has proved that it has the key. So only this peer, or somebody who
  /// holds up its packets, can keep the other callers waiting meanwhile. Nothing if it fails.
  std::optional<Link> make_link(Caller& caller) {
    try {
      std::unique_ptr<TlsStream> tls;
      if (security_.tls) {
        const auto answered_by = std::min(deadline_, Clock::now() + kTimeForHandshake);
        tls = TlsStream::accept(caller.fd.get(), connection_key(security_, *caller.challenges), answered_by);
      }
      return Link(caller.fd.release(), std::move(tls));
    } catch (const Error& error) {
      turn_away(error.what());
      return std::nullopt;
    }
  }

  /// The caller that has been silent longest. If all have sent a challenge, it is the first one. So a scan does not
  /// dislodge a peer whose proof is on its way.
  static std::vector<Caller>::iterator least_likely(std::vector<Caller>& callers) {
    const auto silent = std::ranges::find_if(callers, [](const Caller& caller) { return !caller.challenges; });
    return silent != callers.end() ? silent : callers.begin();
  }

  Heard stranger(std::string reason) {
    turn_away(std::move(reason));
    return Heard::stranger;
  }

  void turn_away(std::string reason) {
    ++turned_away_;
    last_reason_ = std::move(reason);
  }

  const LinkSecurity& security_;
  Clock::time_point deadline_;
  std::size_t turned_away_ = 0;
  std::string last_reason_;
};

}  // namespace

Listener::Listener(const std::string& address, PortRange ports) : impl_(std::make_unique<Impl>()) {
  impl_->fd = listen_on_one_of(address, ports);
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

void Listener::shutdown() noexcept {
  impl_->shut_down = true;
  ::shutdown(impl_->fd.get(), SHUT_RDWR);  // wakes poll(2)
}

Link accept_peer(Listener& listener, const LinkSecurity& security, Clock::time_point deadline) {
  auto& impl = *listener.impl_;
  Reception reception(security, deadline);
  for (;;) {
    impl.admit();
    if (auto link = reception.hear(impl.callers)) return std::move(*link);
    reception.dismiss_the_silent(impl.callers);
    if (Clock::now() >= deadline) reception.give_up(impl.name, impl.callers.size());
    impl.wait(deadline);
  }
}

}  // namespace paretopipe::wire
