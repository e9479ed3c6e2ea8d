#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/handshake.hpp>

#include <span>
#include <string_view>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace paretopipe::wire {
namespace {

unsigned char* raw(Bytes32& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

/// HMAC over the label and a zero, two challenges, a byte for TLS, and the purpose. Only the label and the purpose vary
/// in length, and no label contains a zero, so that two inputs are equal only if all their parts are.
Bytes32 mac(std::string_view label, const Bytes32& first, const Bytes32& second, const LinkSecurity& security) {
  std::vector<std::byte> input;
  const auto append = [&input](std::span<const std::byte> bytes) {
    input.insert(input.end(), bytes.begin(), bytes.end());
  };
  append(std::as_bytes(std::span(label)));
  input.push_back(std::byte{0});
  append(first);
  append(second);
  input.push_back(std::byte{security.tls});
  append(std::as_bytes(std::span(security.purpose)));
  Bytes32 result;
  unsigned size = 0;
  const auto* done = HMAC(EVP_sha256(), security.key.bytes.data(), static_cast<int>(security.key.bytes.size()),
                          reinterpret_cast<const unsigned char*>(input.data()), input.size(), raw(result), &size);
  if (done == nullptr || size != result.size())
    throw EnvironmentError("compute an HMAC: OpenSSL's libcrypto refuses to");
  return result;
}

}  // namespace

Challenge new_challenge() {
  Challenge challenge;
  if (RAND_bytes(raw(challenge.nonce), static_cast<int>(challenge.nonce.size())) != 1) {
    throw EnvironmentError("draw a challenge: OpenSSL's libcrypto has no random numbers");
  }
  return challenge;
}

Proof proof_of(Side side, const LinkSecurity& security, const Challenges& challenges) {
  const auto& [connector, acceptor] = challenges;
  return {side == Side::acceptor ? mac("accept", connector.nonce, acceptor.nonce, security)
                                 : mac("connect", acceptor.nonce, connector.nonce, security)};
}

bool proves(const Proof& claimed, Side side, const LinkSecurity& security, const Challenges& challenges) {
  const Proof right = proof_of(side, security, challenges);
  return CRYPTO_memcmp(claimed.mac.data(), right.mac.data(), right.mac.size()) == 0;
}

Key connection_key(const LinkSecurity& security, const Challenges& challenges) {
  return {mac("tls", challenges.connector.nonce, challenges.acceptor.nonce, security)};
}

}  // namespace paretopipe::wire
