#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/shaping/kernel/child_descriptors.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

#include <array>
#include <cerrno>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

namespace paretopipe::shaping {
namespace {

constexpr std::chrono::seconds kConnectTimeout(20);  // a connection over a lossy link may need several attempts

/// A socket belongs permanently to the namespace in which it was made, whoever uses it.
launch::FileDescriptor socket_in(const std::vector<int>& namespaces) {
  auto sockets = descriptors_from_child([&](ChildAnswer& answer) {
    for (const int descriptor : namespaces) {
      if (!answer.check("enter a namespace", ::setns(descriptor, 0) == 0)) return false;
    }
    return answer.add("make a socket in a namespace", ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  });
  return std::move(sockets.front());
}

void check(const char* attempt, int result) {
  if (result != 0) throw system_error(attempt, errno);
}

sockaddr_in address_of(const std::string& host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

/// The one form in which the socket interface takes addresses.
sockaddr* generic(sockaddr_in& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

/// Waits for one event of poll(2), at most until the deadline.
void wait_for(int socket, short event, Clock::time_point deadline, int interrupt_descriptor) {
  constexpr const char* kAttempt = "connect two namespaces";
  std::array events{pollfd{socket, event, 0}};
  if (launch::poll_interruptibly(events, deadline, interrupt_descriptor, kAttempt) > 0) return;
  throw EnvironmentError(fmt::format("{}: nothing came through within {} s", kAttempt, kConnectTimeout.count()));
}

/// The socket is non-blocking while it connects, and blocking again afterwards.
void connect_within(int socket, sockaddr_in address, Clock::time_point deadline, int interrupt_descriptor) {
  const char* attempt = "connect two namespaces";
  const int flags = ::fcntl(socket, F_GETFL);
  check(attempt, ::fcntl(socket, F_SETFL, flags | O_NONBLOCK));
  if (::connect(socket, generic(address), sizeof address) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) throw system_error(attempt, errno);
    wait_for(socket, POLLOUT, deadline, interrupt_descriptor);
    int error = 0;
    socklen_t size = sizeof error;
    check(attempt, ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size));
    if (error != 0) throw system_error(attempt, error);
  }
  check(attempt, ::fcntl(socket, F_SETFL, flags));
}

}  // namespace

std::pair<launch::FileDescriptor, launch::FileDescriptor> NamespaceRing::connect(int interrupt_descriptor,
                                                                                 std::size_t near,
                                                                                 std::size_t far) const {
  const auto listener = socket_in(descriptors(near));
  auto second = socket_in(descriptors(far));
  auto address = address_of(NamespaceRing::address(near, far));
  socklen_t length = sizeof address;
  check("bind a socket in a namespace", ::bind(listener.get(), generic(address), length));
  check("listen in a namespace", ::listen(listener.get(), 1));
  check("ask for a socket's address", ::getsockname(listener.get(), generic(address), &length));

  const auto deadline = Clock::now() + kConnectTimeout;
  connect_within(second.get(), address, deadline, interrupt_descriptor);
  wait_for(listener.get(), POLLIN, deadline, interrupt_descriptor);
  launch::FileDescriptor first(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (first.get() < 0) throw system_error("accept a connection between two namespaces", errno);

  const int on = 1;
  for (const int socket : {first.get(), second.get()}) {
    check("set TCP_NODELAY", ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  }
  return {std::move(first), std::move(second)};
}

}  // namespace paretopipe::shaping
