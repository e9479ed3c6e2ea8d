#pragma once
// What tests of a meeting and of its handshake share.
#include <paretopipe/wire/rendezvous.hpp>

#include <chrono>
#include <cstdint>
#include <future>

namespace paretopipe::wire {

inline const LinkSecurity kSecurity{random_key(), false, "stage 0 to stage 1"};
inline const LinkSecurity kOther{random_key(), false, "stage 0 to stage 1"};

/// Far enough that only a hang gets there.
inline Clock::time_point in_a_minute() {
  return Clock::now() + std::chrono::seconds(60);
}

inline std::future<Link> connect_later(std::uint16_t port, const LinkSecurity& security) {
  return std::async(std::launch::async,
                    [port, security] { return connect_peer("127.0.0.1", port, security, in_a_minute()); });
}

inline std::future<Link> accept_later(Listener& listener) {
  return std::async(std::launch::async, [&listener] { return accept_peer(listener, kSecurity, in_a_minute()); });
}

}  // namespace paretopipe::wire
