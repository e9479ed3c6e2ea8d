#pragma once
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/key.hpp>

#include <string>

// How two processes prove to each other that they have the same key, without showing it: challenge and response with
// HMAC-SHA256 (RFC 2104, FIPS 180-4). Pure but for the random numbers of a challenge; safe from any thread.
//
//  connector                                 acceptor
//  Challenge(c)                         ->
//                                       <-   Challenge(a), Proof(HMAC(key, "accept", c, a, ...))
//  Proof(HMAC(key, "connect", a, c, ...)) ->
//
// Each side draws its own challenge, so that nothing recorded earlier fits. The role is part of what is proved, so that
// nothing that a side said can be sent back to it.
namespace paretopipe::wire {

/// What both ends of a link must know.
struct LinkSecurity {
  Key key;
  bool tls = false;  ///< encrypt what follows the proofs
  std::string
      purpose{};  ///< the link's name, "stage 0 to 1". A key that serves several links proves only the one meant
};

/// The challenges of both sides of one connection.
struct Challenges {
  Challenge connector;
  Challenge acceptor;
};

enum class Side { connector, acceptor };

/// Unpredictable. Throws EnvironmentError if there are no random numbers.
Challenge new_challenge();

/// The proof that `side` has the key of `security`.
Proof proof_of(Side side, const LinkSecurity& security, const Challenges& challenges);

/// True if `claimed` is that proof. Takes equally long for every wrong one.
bool proves(const Proof& claimed, Side side, const LinkSecurity& security, const Challenges& challenges);

/// A key for this connection alone. Only those who have the key of `security` can derive it.
Key connection_key(const LinkSecurity& security, const Challenges& challenges);

}  // namespace paretopipe::wire
