#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/rendezvous.hpp>
#include <paretopipe/wire/tls.hpp>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "socket_pairs.hpp"
#include "tensors.hpp"

using namespace paretopipe::wire;
using namespace std::chrono_literals;
using paretopipe::Clock;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

Clock::time_point soon() {
  return Clock::now() + 120s;
}

/// Both ends of an encrypted link, made as stages make it.
RingLinks make_encrypted_links() {
  const LinkSecurity security{random_key(), true, "stage 0 to stage 0"};
  Listener listener("127.0.0.1", {});
  return join_ring(listener, {security, "127.0.0.1", listener.port(), security}, soon());
}

using OwnedKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using OwnedCertificate = std::unique_ptr<X509, decltype(&X509_free)>;
using OwnedContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using OwnedConnection = std::unique_ptr<SSL, decltype(&SSL_free)>;

/// A server or client of TLS 1.3 with a certificate that it signed itself, and no key of ours.
bool shake_hands_with_a_certificate(int socket, bool server) {
  const OwnedKey key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const OwnedCertificate certificate(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  REQUIRE(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
  const OwnedContext context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  REQUIRE(SSL_CTX_use_certificate(context.get(), certificate.get()) == 1);
  REQUIRE(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1);
  const OwnedConnection connection(SSL_new(context.get()), SSL_free);
  SSL_set_fd(connection.get(), socket);
  return (server ? SSL_accept(connection.get()) : SSL_connect(connection.get())) == 1;
}

/// Passes all bytes back, until the end.
class WayBack {
 public:
  WayBack(RawSocket& from, RawSocket& to)
      : back_(std::async(std::launch::async, [&from, &to] {
          try {
            for (;;) from.send(to.receive(1));
          } catch (const paretopipe::EnvironmentError&) {  // the end
          }
        })) {}

 private:
  std::future<void> back_;
};

/// Passes records on until the end, and changes one byte of the second message's.
void relay_records(RawSocket& from, RawSocket& to) {
  const WayBack back(from, to);
  const std::string secret = "secret";
  const auto word = std::as_bytes(std::span(secret));
  try {
    for (int of_data = 0;;) {
      const auto header = from.receive(5);
      auto body = from.receive(std::to_integer<std::size_t>(header[3]) * 256 + std::to_integer<std::size_t>(header[4]));
      CHECK(std::search(body.begin(), body.end(), word.begin(), word.end()) == body.end());
      // Type 23 is encrypted: the end of the client's handshake, then the two messages.
      of_data += header[0] == std::byte{23} ? 1 : 0;
      if (of_data == 3) body.front() ^= std::byte{1};
      to.send(header);
      to.send(body);
    }
  } catch (const paretopipe::EnvironmentError&) {  // the end
  }
}

}  // namespace

TEST_CASE("tensors and messages of all sizes cross an encrypted link in both directions at once, bit by bit") {
  auto [a, b] = make_encrypted_links();
  // Below, at and above the size of a record, and of the pieces that a link sends.
  check_both_directions(a, b, {2, 1'278, 1'280, 1'282, 16'318, 16'320, 16'322, 65'536, 300'000, 4'194'306, 20'000'000});
  a.send_message("the last");
  CHECK(b.receive_message() == "the last");
}

TEST_CASE("traffic over an encrypted link counts what frames have, and not what encryption adds") {
  auto [a, b] = make_encrypted_links();
  a.send_tensor(1, 0, bytes_spec(1000), pattern(1000, 1));
  std::vector<std::byte> bytes(1000);
  b.receive_tensor(1, 0, bytes_spec(1000), bytes);
  CHECK(a.traffic()->sent == 1064);
  CHECK(b.traffic()->received == 1064);
}

TEST_CASE(
    "a frame's header arrives with the first segment, so that the frame begins to arrive when it does on a plain "
    "link") {
  auto [a, b] = make_encrypted_links();
  const auto bytes = pattern(1'000'000, 1);
  auto sending =
      std::async(std::launch::async, [&link = a, &bytes] { link.send_tensor(1, 0, bytes_spec(bytes.size()), bytes); });
  std::array<unsigned char, 5> record{};
  while (::recv(b.native_handle(), record.data(), record.size(), MSG_PEEK) < static_cast<ssize_t>(record.size()))
    continue;
  CHECK(record[0] == 23);  // data
  CHECK(record.size() + record[3] * 256U + record[4] <= 1448);
  std::vector<std::byte> received(bytes.size());
  b.receive_tensor(1, 0, bytes_spec(bytes.size()), received);
  CHECK(received == bytes);
  sending.get();
}

TEST_CASE("what crosses an encrypted link cannot be read on its way, and a changed byte is noticed") {
  auto [near, outside] = TcpLoopback::connect();
  auto [inside, far] = TcpLoopback::connect();
  const Key key = random_key();
  const int near_fd = near.release();
  const int far_fd = far.release();
  auto relay = std::async(std::launch::async, [&from = outside, &to = inside] { relay_records(from, to); });
  auto accepting = std::async(std::launch::async, [&] { return Link(far_fd, TlsStream::accept(far_fd, key, soon())); });
  Link sender(near_fd, TlsStream::connect(near_fd, key, soon()));
  Link receiver = accepting.get();
  sender.send_message("a secret sentence");
  CHECK(receiver.receive_message() == "a secret sentence");
  sender.send_message("damage this one");
  CHECK(contains(message_of<ProtocolError>([&] { receiver.receive_message(); }), "somebody changed it on its way"));
  sender.shutdown();
  receiver.shutdown();
  CHECK_NOTHROW(relay.get());
}

TEST_CASE("nothing of the next frame is read ahead, so that who polls sees it") {
  auto [a, b] = make_encrypted_links();
  a.send_message("first");
  a.send_message("second");
  CHECK(b.receive_message() == "first");
  pollfd waiting{b.native_handle(), POLLIN, 0};
  CHECK(::poll(&waiting, 1, 10'000) == 1);
  CHECK(b.receive_message() == "second");
  CHECK(::poll(&waiting, 1, 0) == 0);
}

TEST_CASE("an encrypted link changes its keys as it goes, and nobody notices") {
  auto [a, b] = make_encrypted_links();
  const int more_than_one_key_encrypts = 70'000;
  auto sending = std::async(std::launch::async, [&link = a] {
    for (int i = 0; i < more_than_one_key_encrypts; ++i) link.send_message(i);
  });
  int right = 0;
  for (int i = 0; i < more_than_one_key_encrypts; ++i) right += b.receive_message() == i ? 1 : 0;
  CHECK(right == more_than_one_key_encrypts);
  sending.get();
  b.send_message("and back");
  CHECK(a.receive_message() == "and back");
}

TEST_CASE("shutdown from another thread wakes a receiver and a sender of an encrypted link") {
  auto [a, b] = make_encrypted_links();
  const std::vector<std::byte> more_than_any_buffer(std::size_t{64} << 20);
  auto receiving = std::async(std::launch::async, [&link = a] { link.receive_message(); });
  auto sending = std::async(std::launch::async, [&link = a, &more_than_any_buffer] {
    link.send_tensor(1, 0, bytes_spec(more_than_any_buffer.size()), more_than_any_buffer);
  });
  a.shutdown();
  CHECK(contains(message_of<Closed>([&] { receiving.get(); }), "shut down on this side"));
  CHECK_THROWS_AS(sending.get(), Closed);
}

TEST_CASE("the end of an encrypted link between frames is told from one in the middle") {
  auto [a, b] = make_encrypted_links();
  a.send_message("the last");
  { const Link closed = std::move(a); }
  CHECK(b.receive_message() == "the last");
  CHECK(contains(message_of<Closed>([&link = b] { link.receive_message(); }), "the peer closed it"));
  const auto send_for_ever = [&link = b] {
    for (;;) link.send_message("still there?");
  };
  CHECK_THROWS_AS(send_for_ever(), ConnectionLost);
}

TEST_CASE("encryption with another key fails on both sides, which waited for no acknowledgement to find out") {
  auto [a, b] = TcpLoopback::connect();
  const int near = a.fd();
  const int far = b.fd();
  auto accepting = std::async(std::launch::async, [&] { TlsStream::accept(far, random_key(), soon()); });
  CHECK_THROWS_AS(TlsStream::connect(near, random_key(), soon()), ProtocolError);
  CHECK_THROWS_AS(accepting.get(), ProtocolError);
  for (const int end : {near, far}) {
    int no_delay = 0;
    socklen_t size = sizeof(no_delay);
    REQUIRE(::getsockopt(end, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size) == 0);
    CHECK(no_delay != 0);
  }
}

TEST_CASE("a peer that has a certificate and not the key is refused, whoever connects") {
  auto [a, b] = TcpLoopback::connect();
  const int near = a.fd();
  const int far = b.fd();
  const bool it_serves = GENERATE(true, false);
  auto stranger = std::async(std::launch::async, [&] { return shake_hands_with_a_certificate(far, it_serves); });
  if (it_serves) {
    CHECK_THROWS_AS(TlsStream::connect(near, random_key(), soon()), ProtocolError);
  } else {
    CHECK_THROWS_AS(TlsStream::accept(near, random_key(), soon()), ProtocolError);
  }
  a.close();
  stranger.get();
}

TEST_CASE(
    "a peer that stops after its proof, in the middle of the encryption's handshake, is given up at the deadline") {
  auto [a, b] = TcpLoopback::connect();
  const int near = a.fd();
  CHECK(contains(message_of<ProtocolError>([&] { TlsStream::accept(near, random_key(), Clock::now() + 100ms); }),
                 "does not answer"));
}
