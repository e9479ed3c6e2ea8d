#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/shaping/interface/host_tc.hpp>
#include <paretopipe/shaping/interface/lease.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace paretopipe::shaping {
namespace {

/// Allows one lease per interface: otherwise the end of the first could remove what the second has added. The name is
/// an abstract one: each network namespace has its own, and it is free as soon as the keeper is gone.
launch::FileDescriptor lock_interface(const std::string& interface) {
  launch::FileDescriptor lock(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (lock.get() < 0) throw system_error("make a socket to lock an interface with", errno);
  const std::string name = "paretopipe-lease/" + interface;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path[1], name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(lock.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return lock;
  if (errno != EADDRINUSE) throw system_error("lock the interface " + interface, errno);
  throw EnvironmentError(fmt::format("another `paretopipe net apply` runs on {}; end it first (Ctrl-C)", interface));
}

void tell(int connection, const nlohmann::json& message) {
  // A program's output need not be UTF-8.
  const auto text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  [[maybe_unused]] const auto sent = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);  // it may be gone
}

LeaseTerms receive_terms(int connection) {
  std::string text(kLargestLeaseMessage, '\0');
  ssize_t got = 0;
  do got = ::recv(connection, text.data(), text.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got < 0) throw system_error("hear the terms of a lease", errno);
  text.resize(static_cast<std::size_t>(got));
  try {
    return nlohmann::json::parse(text).get<LeaseTerms>();
  } catch (const nlohmann::json::exception& error) {
    throw EnvironmentError(fmt::format("hear the terms of a lease: {}", error.what()));
  }
}

/// Applies all of it or nothing. Returns what tc then shows.
std::string apply(const LeaseTerms& terms) {
  refuse_foreign_root(terms.interface);
  // tc adds a root qdisc only if there is none but the kernel's, so nobody who comes in between loses one.
  run_tc(terms.plan.apply.front());
  try {
    for (std::size_t index = 1; index < terms.plan.apply.size(); ++index) run_tc(terms.plan.apply[index]);
    return run_tc(show_command(terms.interface));
  } catch (const EnvironmentError&) {
    run_tc(terms.plan.undo);
    throw;
  }
}

LeaseEnd wait_for_end(int connection, const launch::InterruptGuard& interrupt, Clock::time_point deadline) {
  for (;;) {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (rest <= 0) return LeaseEnd::expired;
    std::array events{pollfd{connection, POLLIN, 0}, pollfd{interrupt.descriptor(), POLLIN, 0}};
    const int ready = ::poll(events.data(), events.size(), static_cast<int>(std::min<std::int64_t>(rest, 3'600'000)));
    if (ready < 0 && errno != EINTR) return LeaseEnd::keeper_interrupted;
    if (ready > 0 && events[0].revents != 0) return LeaseEnd::released;
    if (interrupt.requested()) return LeaseEnd::keeper_interrupted;
  }
}

}  // namespace

void keep_lease(launch::FileDescriptor connection) {
  const launch::InterruptGuard interrupt;
  try {
    const auto terms = receive_terms(connection.get());
    const auto lock = lock_interface(terms.interface);
    tell(connection.get(), {{"applied", apply(terms)}});
    const auto end = wait_for_end(connection.get(), interrupt, Clock::now() + terms.duration);
    tell(connection.get(), LeaseOutcome{end, clear_leftovers(terms.interface)});
  } catch (const EnvironmentError& error) {
    tell(connection.get(), {{"error", error.what()}});
  }
}

}  // namespace paretopipe::shaping
