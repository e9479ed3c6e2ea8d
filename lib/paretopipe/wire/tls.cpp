#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/tls.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "sockets.hpp"

namespace paretopipe::wire {

template <auto function>
struct OpenSslFreer {
  template <class Object>
  void operator()(Object* object) const {
    function(object);
  }
};
using Context = std::unique_ptr<SSL_CTX, OpenSslFreer<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, OpenSslFreer<SSL_free>>;
using Session = std::unique_ptr<SSL_SESSION, OpenSslFreer<SSL_SESSION_free>>;

namespace {

constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;
/// The record with a frame's header fits one segment of TCP. The receiver sees the header once all of its record has
/// come, and takes that for the moment when the frame began to arrive.
constexpr std::size_t kFirstRecordBytes = 1344;
/// A key of AES-GCM must not encrypt more than 2^24.5 records (RFC 8446, 5.5). OpenSSL does not count them.
constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 16;
/// The one identity there is. The key is this connection's own, so there is nothing to choose from.
constexpr std::string_view kIdentity = "paretopipe";
constexpr std::array<unsigned char, 2> kAes128GcmSha256{0x13, 0x01};

template <class Result>
Result require(Result result, const char* attempt) {
  if (!result) throw EnvironmentError(fmt::format("{}: OpenSSL refuses to", attempt));
  return result;
}

/// OpenSSL's own BIO for sockets raises SIGPIPE, and blocks on a blocking socket while the lock is held.
int write_to_socket(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))), bytes,
                           static_cast<std::size_t>(count), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_from_socket(BIO* bio, char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))), bytes,
                          static_cast<std::size_t>(count), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

long control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = require(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket"), "prepare TLS");
    BIO_meth_set_write(made, write_to_socket);
    BIO_meth_set_read(made, read_from_socket);
    BIO_meth_set_ctrl(made, control_socket);
    return made;
  }();
  return method;
}

/// Puts the connection's key into the form of a pre-shared key that OpenSSL takes: a session to resume from.
SSL_SESSION* session_of(SSL* ssl) {
  const auto& key = *static_cast<const Key*>(SSL_get_app_data(ssl));
  Session session(SSL_SESSION_new());
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256.data());
  const auto* secret = reinterpret_cast<const unsigned char*>(key.bytes.data());
  const bool made = session && cipher != nullptr &&
                    SSL_SESSION_set1_master_key(session.get(), secret, key.bytes.size()) == 1 &&
                    SSL_SESSION_set_cipher(session.get(), cipher) == 1 &&
                    SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
  return made ? session.release() : nullptr;
}

int offer_key(SSL* ssl, const EVP_MD* digest, const unsigned char** id, std::size_t* size, SSL_SESSION** session) {
  *session = nullptr;
  if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;
  *id = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *size = kIdentity.size();
  *session = session_of(ssl);
  return *session != nullptr ? 1 : 0;
}

int find_key(SSL* ssl, const unsigned char* id, std::size_t size, SSL_SESSION** session) {
  *session = nullptr;
  if (std::string_view(reinterpret_cast<const char*>(id), size) != kIdentity) return 1;
  *session = session_of(ssl);
  return *session != nullptr ? 1 : 0;
}

Context make_context() {
  Context context(require(SSL_CTX_new(TLS_method()), "prepare TLS"));
  auto* raw = context.get();
  require(SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION) == 1 &&
              SSL_CTX_set_ciphersuites(raw, "TLS_AES_128_GCM_SHA256") == 1 && SSL_CTX_set_num_tickets(raw, 0) == 1,
          "prepare TLS");
  SSL_CTX_set_options(raw, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE);  // a call of SSL_write is a record: the lock is soon free
  SSL_CTX_set_psk_use_session_callback(raw, offer_key);
  SSL_CTX_set_psk_find_session_callback(raw, find_key);
  return context;
}

std::string reason_of_openssl() {
  const auto code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

}  // namespace

struct TlsStream::Impl {
  Impl(int descriptor, const Key& shared);

  /// Repeats the operation until it succeeds, fails or the deadline passes.
  template <class Operation>
  TlsOutcome attempt(Operation operation, Clock::time_point deadline);
  TlsOutcome write_record(std::span<const std::byte> bytes);

  int socket;
  Key key;
  Context context = make_context();
  std::mutex mutex;  ///< guards the connection and OpenSSL's state of it
  Connection connection{require(SSL_new(context.get()), "prepare TLS")};
  std::uint64_t records = 0;  ///< sent; only the sending thread uses it
  std::array<std::byte, kFirstRecordBytes>
      record{};  ///< where two parts are put together; only the sending thread uses it
};

TlsStream::Impl::Impl(int descriptor, const Key& shared) : socket(descriptor), key(shared) {
  send_at_once(socket);  // the handshake's messages are small
  BIO* bio = require(BIO_new(socket_method()), "prepare TLS");
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  SSL_set_bio(connection.get(), bio, bio);
  SSL_set_app_data(connection.get(), &key);
}

namespace {

/// What a failed call of OpenSSL means; nothing if it is to be made again once the socket is ready for `events`.
std::optional<TlsOutcome> judge_failure(int failure, int error_number, short& events) {
  switch (failure) {
    case SSL_ERROR_WANT_READ:
      events = POLLIN;
      return std::nullopt;
    case SSL_ERROR_WANT_WRITE:
      events = POLLOUT;
      return std::nullopt;
    case SSL_ERROR_ZERO_RETURN:
      return TlsOutcome{.end = true};
    case SSL_ERROR_SYSCALL:
      return error_number == 0 ? TlsOutcome{.end = true} : TlsOutcome{.error = error_number};
    default:
      return TlsOutcome{.error = EBADMSG};
  }
}

}  // namespace

template <class Operation>
TlsOutcome TlsStream::Impl::attempt(Operation operation, Clock::time_point deadline) {
  for (;;) {
    short events = 0;
    {
      const std::lock_guard lock(mutex);
      ERR_clear_error();
      errno = 0;
      TlsOutcome outcome;
      const int result = operation(connection.get(), outcome.bytes);
      if (result == 1) return outcome;
      const int error_number = errno;
      if (const auto failed = judge_failure(SSL_get_error(connection.get(), result), error_number, events)) {
        return *failed;
      }
    }
    if (Clock::now() >= deadline) return {.error = ETIMEDOUT};
    std::array waiting{pollfd{socket, events, 0}};
    poll_until(waiting, deadline);
  }
}

TlsOutcome TlsStream::Impl::write_record(std::span<const std::byte> bytes) {
  if (++records % kRecordsPerKey == 0) {
    const std::lock_guard lock(mutex);
    require(SSL_key_update(connection.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1, "change the key of a link");
  }
  return attempt(
      [bytes](SSL* ssl, std::size_t& taken) { return SSL_write_ex(ssl, bytes.data(), bytes.size(), &taken); },
      Clock::time_point::max());
}

TlsStream::TlsStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsStream::~TlsStream() = default;

std::unique_ptr<TlsStream> TlsStream::connect(int socket, const Key& key, Clock::time_point deadline) {
  auto impl = std::make_unique<Impl>(socket, key);
  SSL_set_connect_state(impl->connection.get());
  // Without this a client takes any certificate for a proof. With it, and without any authority to trust, it takes
  // none.
  SSL_set_verify(impl->connection.get(), SSL_VERIFY_PEER, nullptr);
  return shake_hands(std::move(impl), deadline);
}

std::unique_ptr<TlsStream> TlsStream::accept(int socket, const Key& key, Clock::time_point deadline) {
  auto impl = std::make_unique<Impl>(socket, key);
  SSL_set_accept_state(impl->connection.get());
  return shake_hands(std::move(impl), deadline);
}

std::unique_ptr<TlsStream> TlsStream::shake_hands(std::unique_ptr<Impl> impl, Clock::time_point deadline) {
  const auto outcome = impl->attempt([](SSL* ssl, std::size_t&) { return SSL_do_handshake(ssl); }, deadline);
  const std::string what = "agree on encryption with the peer";
  if (outcome.error == ETIMEDOUT) throw ProtocolError(what + ": it does not answer");
  if (outcome.end) throw ProtocolError(what + ": it hung up");
  if (outcome.error == EBADMSG) throw ProtocolError(fmt::format("{}: {}", what, reason_of_openssl()));
  if (outcome.error != 0) throw ProtocolError(system_error(what, outcome.error).what());
  if (SSL_session_reused(impl->connection.get()) != 1) throw ProtocolError(what + ": it did not use this run's key");
  return std::unique_ptr<TlsStream>(new TlsStream(std::move(impl)));
}

TlsOutcome TlsStream::write_some(std::span<const std::byte> first, std::span<const std::byte> second) {
  if (first.empty()) return impl_->write_record(second.first(std::min(second.size(), kRecordBytes)));
  auto& record = impl_->record;
  const auto head = std::min(first.size(), record.size());
  const auto rest = std::min(second.size(), record.size() - head);
  std::copy_n(first.begin(), head, record.begin());
  std::copy_n(second.begin(), rest, record.begin() + static_cast<std::ptrdiff_t>(head));
  return impl_->write_record(std::span(record).first(head + rest));
}

TlsOutcome TlsStream::read_some(std::span<std::byte> into) {
  return impl_->attempt([into](SSL* ssl, std::size_t& got) { return SSL_read_ex(ssl, into.data(), into.size(), &got); },
                        Clock::time_point::max());
}

}  // namespace paretopipe::wire
