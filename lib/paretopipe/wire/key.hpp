#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

// The secret that the stages of one pipeline share.
namespace paretopipe::wire {

/// 256 bits. Whoever has them is a peer. They must never be in an argument list, environment, error message or log.
struct Key {
  std::array<std::byte, 32> bytes{};
  bool operator==(const Key&) const = default;
};

/// A new key from libcrypto's generator, which draws on the kernel's. Throws EnvironmentError if there are no random
/// numbers.
Key random_key();

/// 64 lower-case hexadecimal digits, for the control message that hands the key over.
std::string to_hex(const Key& key);

/// Throws ProtocolError for anything but 64 hexadecimal digits, without quoting it.
Key key_from_hex(std::string_view digits);

}  // namespace paretopipe::wire
