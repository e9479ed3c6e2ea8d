#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/file_descriptor.hpp>
#include <paretopipe/shaping/interface/interface_mtu.hpp>

#include <algorithm>
#include <cerrno>

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <net/if.h>

namespace paretopipe::shaping {

std::optional<std::int64_t> interface_mtu(const std::string& interface) {
  const auto attempt = [&] { return fmt::format("ask for the MTU of the interface {}", interface); };
  if (interface.size() >= IFNAMSIZ) return std::nullopt;
  // Not /sys/class/net, which shows the network namespace in which it was mounted.
  const launch::FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw system_error(attempt(), errno);
  ifreq request{};
  std::copy(interface.begin(), interface.end(), request.ifr_name);
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) == 0) return request.ifr_mtu;
  if (errno == ENODEV) return std::nullopt;
  throw system_error(attempt(), errno);
}

}  // namespace paretopipe::shaping
