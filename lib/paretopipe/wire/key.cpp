#include <paretopipe/core/text.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/key.hpp>

#include <fmt/format.h>
#include <openssl/rand.h>

namespace paretopipe::wire {

Key random_key() {
  Key key;
  if (RAND_priv_bytes(reinterpret_cast<unsigned char*>(key.bytes.data()), static_cast<int>(key.bytes.size())) != 1) {
    throw EnvironmentError("draw a key: OpenSSL's libcrypto has no random numbers");
  }
  return key;
}

std::string to_hex(const Key& key) {
  std::string digits;
  for (const auto byte : key.bytes) digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return digits;
}

Key key_from_hex(std::string_view digits) {
  Key key;
  bool valid = digits.size() == 2 * key.bytes.size();
  for (std::size_t i = 0; valid && i < key.bytes.size(); ++i) {
    const auto value = parse_number<unsigned>(digits.substr(2 * i, 2), 16);
    valid = value.has_value();
    key.bytes[i] = static_cast<std::byte>(value.value_or(0));
  }
  if (valid) return key;
  throw ProtocolError("expected a key of 64 hexadecimal digits, got something else");
}

}  // namespace paretopipe::wire
