#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace paretopipe::wire {

// Internal to wire.

/// Owns a file descriptor, or none (-1).
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// Internal to wire.

/// poll(2) until a deadline. Returns the number of ready descriptors. Also returns 0 after a signal and on very long
/// waits, so the caller must check the clock itself. Throws EnvironmentError if the kernel refuses.
inline int poll_until(std::span<pollfd> waiting, Clock::time_point deadline) {
  using namespace std::chrono_literals;
  // Compared before subtracting, and limited to what poll can count: time_point::max() means "for ever".
  const auto now = Clock::now();
  const auto rest = deadline > now ? std::min<Clock::duration>(deadline - now, 1h) : Clock::duration::zero();
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(rest).count();
  const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(milliseconds));
  if (ready < 0 && errno != EINTR) throw system_error("wait for a socket", errno);
  return std::max(ready, 0);
}

// Internal to wire: converts between names and socket addresses.

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// Empty if the resolver has no answer now and may have one later (EAI_AGAIN). Throws EnvironmentError for a name that
/// does not exist. Waits as long as the system's resolver does. `passive`: for listening.
std::vector<Address> resolve(const std::string& host, std::uint16_t port, bool passive);

/// "127.0.0.1:5000", "[::1]:5000"; "socketpair" for AF_UNIX.
std::string to_string(const Address& address);

/// Throws EnvironmentError if the kernel refuses.
Address local_address(int fd);

/// Nothing if `fd` is not connected, or no longer: a peer may vanish at any moment, so this does not throw.
std::optional<Address> peer_address(int fd);

/// 0 if the family has no ports.
std::uint16_t port_of(const Address& address);

/// "name:5000", with brackets around an IPv6 address. For error messages.
std::string host_and_port(const std::string& host, std::uint16_t port);

}  // namespace paretopipe::wire
