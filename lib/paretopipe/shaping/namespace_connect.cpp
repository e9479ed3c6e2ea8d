#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/child_descriptors.hpp>
#include <paretopipe/shaping/namespace_pair.hpp>

#include <cerrno>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

namespace paretopipe::shaping {
namespace {

constexpr int kConnectTimeoutS = 20;  // a connection over a lossy link may need several attempts

/// A socket belongs for life to the namespace in which it was made, whoever uses it.
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

launch::FileDescriptor accept_within(int listener, int timeout_ms) {
  pollfd event{listener, POLLIN, 0};
  while (::poll(&event, 1, timeout_ms) < 0 && errno == EINTR) {
  }
  if (event.revents == 0) throw EnvironmentError("accept a connection between two namespaces: none came within 20 s");
  launch::FileDescriptor connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.get() < 0) throw system_error("accept a connection between two namespaces", errno);
  return connection;
}

}  // namespace

std::pair<launch::FileDescriptor, launch::FileDescriptor> NamespacePair::connect() const {
  const auto listener = socket_in(descriptors(0));
  auto second = socket_in(descriptors(1));
  auto address = address_of(NamespacePair::address(0));
  socklen_t length = sizeof address;
  check("bind a socket in a namespace", ::bind(listener.get(), generic(address), length));
  check("listen in a namespace", ::listen(listener.get(), 1));
  check("ask for a socket's address", ::getsockname(listener.get(), generic(address), &length));

  const timeval patience{kConnectTimeoutS, 0};
  check("limit a connection's time", ::setsockopt(second.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience));
  check("connect two namespaces", ::connect(second.get(), generic(address), length));
  const timeval none{};
  check("lift a connection's limit", ::setsockopt(second.get(), SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none));
  auto first = accept_within(listener.get(), kConnectTimeoutS * 1000);

  const int on = 1;
  for (const int socket : {first.get(), second.get()}) {
    check("set TCP_NODELAY", ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  }
  return {std::move(first), std::move(second)};
}

}  // namespace paretopipe::shaping
