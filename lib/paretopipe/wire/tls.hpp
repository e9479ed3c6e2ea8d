#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/wire/key.hpp>

#include <cstddef>
#include <memory>
#include <span>

// Encryption of a link: TLS 1.3 (RFC 8446) with an external pre-shared key and a Diffie-Hellman exchange, so that what
// was recorded stays secret even if the key is found later. No certificates, no tickets, no resumption.
namespace paretopipe::wire {

/// What came of a send or receive: bytes, or the end of the stream, or the errno of a failure.
struct TlsOutcome {
  std::size_t bytes = 0;
  bool end = false;
  int error = 0;  ///< EBADMSG: what came was not encrypted with this connection's keys, or it was changed on its way
};

/// The encrypted stream over a connected socket, which it does not own and which must outlive it.
///
/// Threads: one sender and one receiver may use it at the same time. OpenSSL allows one thread at a time in a
/// connection, so a lock is held while a record (at most 16 KiB) is encrypted or decrypted and handed over, but never
/// while a thread waits. shutdown(2) of the socket wakes both.
class TlsStream {
 public:
  /// Makes the handshake, until the deadline, as the side that connected or accepted. The socket may be blocking or
  /// not. Throws ProtocolError if the other side does not have `key`, whatever certificates it shows, and at the
  /// deadline.
  static std::unique_ptr<TlsStream> connect(int socket, const Key& key, Clock::time_point deadline);
  static std::unique_ptr<TlsStream> accept(int socket, const Key& key, Clock::time_point deadline);
  ~TlsStream();

  /// Sends at least one byte of `first` or, if that is empty, of `second`. Both may share a record, which
  /// is then so short that the peer has all of `first` with the first segment of TCP.
  TlsOutcome write_some(std::span<const std::byte> first, std::span<const std::byte> second);

  /// Waits for at least one byte. Reads no further than the end of a record. A record never has bytes of two calls of
  /// write_some.
  TlsOutcome read_some(std::span<std::byte> into);

 private:
  struct Impl;
  explicit TlsStream(std::unique_ptr<Impl> impl);
  static std::unique_ptr<TlsStream> shake_hands(std::unique_ptr<Impl> impl, Clock::time_point deadline);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paretopipe::wire
