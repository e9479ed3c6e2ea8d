#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace paretopipe::shaping {

/// The largest IP packet, in bytes, that an interface of this process's network takes; nothing if there is no such
/// interface. Throws EnvironmentError if the kernel cannot be asked.
std::optional<std::int64_t> interface_mtu(const std::string& interface);

}  // namespace paretopipe::shaping
