#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/probe/endpoint.hpp>

#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace paretopipe::shaping {

Endpoint parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  auto host = text.substr(0, colon == std::string::npos ? 0 : colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    host.clear();  // an IPv6 address whose end is ambiguous
  }
  const auto port = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [rest, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || port.empty() || error != std::errc{} || rest != port.data() + port.size()) {
    throw UsageError(
        fmt::format("\"{}\" is not an address with a port; write it like 192.168.1.7:5000 or [::1]:5000", text));
  }
  return {host, number};
}

}  // namespace paretopipe::shaping
