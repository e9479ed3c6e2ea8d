#pragma once
#include <cstdint>
#include <string>

namespace paretopipe::shaping {

/// An address to listen on or to connect to.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

/// "192.168.1.7:5000", "[::1]:5000", "raspberry.local:5000". Throws UsageError.
Endpoint parse_endpoint(const std::string& text);

}  // namespace paretopipe::shaping
