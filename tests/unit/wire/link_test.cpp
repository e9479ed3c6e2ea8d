#include <paretopipe/core/clock.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "golden.hpp"
#include "socket_pairs.hpp"
#include "tensors.hpp"

using namespace paretopipe::wire;
using nlohmann::json;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

std::atomic<int> signals_handled = 0;

/// Counts SIGUSR1 without SA_RESTART, so that a system call under way fails with EINTR.
class InterruptingHandler {
 public:
  InterruptingHandler() {
    signals_handled = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals_handled; };
    ::sigaction(SIGUSR1, &action, &before_);
  }
  ~InterruptingHandler() { ::sigaction(SIGUSR1, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

/// Interrupts a thread so often, each time after the handler has run; or, since ThreadSanitizer runs handlers only once
/// the interrupted system call has returned, after a moment.
void interrupt(std::thread& thread, int times) {
  for (int i = 1; i <= times; ++i) {
    ::pthread_kill(thread.native_handle(), SIGUSR1);
    const auto moment = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
    while (signals_handled < i && std::chrono::steady_clock::now() < moment) std::this_thread::yield();
  }
}

}  // namespace

TEMPLATE_TEST_CASE("tensors of all sizes cross in both directions at once, bit by bit", "", TcpLoopback, Socketpair) {
  auto [a, b] = make_links<TestType>();
  // From one byte pair to beyond the limit between the two ways of cutting a body into pieces (4 MiB).
  check_both_directions(a, b, {2, 64, 1000, 65536, 65538, 300'000, 4'194'304, 4'194'306, 5'000'000});
}

TEMPLATE_TEST_CASE("what leaves a link is the golden frame", "", TcpLoopback, Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  const auto golden = golden_bytes("tensor");
  const float values[] = {1.0F, -2.0F};
  link.send_tensor(3, 7, {DType::float32, MemoryFormat::channels_last, {1, 2, 1, 1}}, std::as_bytes(std::span(values)));
  CHECK(raw.receive(golden.size()) == golden);
}

TEMPLATE_TEST_CASE("a golden frame that arrives a byte at a time is received", "", TcpLoopback, Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  auto sender = std::async(std::launch::async, [&socket = raw] {
    for (const auto byte : golden_bytes("tensor")) socket.send(&byte, 1);
  });
  float values[2] = {};
  link.receive_tensor(3, 7, {DType::float32, MemoryFormat::channels_last, {1, 2, 1, 1}},
                      std::as_writable_bytes(std::span(values)));
  CHECK(values[0] == 1.0F);
  CHECK(values[1] == -2.0F);
}

TEMPLATE_TEST_CASE("an encoded tensor arrives in the first bytes of memory for the longest one", "", TcpLoopback,
                   Socketpair) {
  auto [a, b] = make_links<TestType>();
  std::vector<std::byte> memory(1000);
  for (const std::size_t length : {std::size_t{1}, std::size_t{999}, std::size_t{1000}}) {
    a.send_encoded(1, length, bytes_spec(8), 4, pattern(length, 3));
    const auto encoded = b.receive_encoded(1, length, bytes_spec(8), 4, memory);
    CHECK(encoded.body.data() == memory.data());
    CHECK(std::vector<std::byte>(encoded.body.begin(), encoded.body.end()) == pattern(length, 3));
    CHECK(encoded.times.begin_ns <= encoded.times.end_ns);
  }
  CHECK(a.traffic()->sent == b.traffic()->received);
}

TEMPLATE_TEST_CASE("messages and tensors share a link in order", "", TcpLoopback, Socketpair) {
  auto [a, b] = make_links<TestType>();
  const json message = {{"type", "plan"}, {"cuts", {3}}};
  a.send_message(message);
  a.send_tensor(1, 0, bytes_spec(8), pattern(8, 0));
  a.send_message(json::array());
  std::vector<std::byte> bytes(8);
  CHECK(b.receive_message() == message);
  b.receive_tensor(1, 0, bytes_spec(8), bytes);
  CHECK(bytes == pattern(8, 0));
  CHECK(b.receive_message() == json::array());
}

TEMPLATE_TEST_CASE("times are taken in the order in which things happen", "", TcpLoopback, Socketpair) {
  auto [a, b] = make_links<TestType>();
  std::vector<std::byte> bytes(1000);
  const auto before = paretopipe::now_ns();
  const SendTimes sent = a.send_tensor(1, 0, bytes_spec(1000), bytes);
  const ReceiveTimes received = b.receive_tensor(1, 0, bytes_spec(1000), bytes);
  const auto after = paretopipe::now_ns();
  CHECK(before <= sent.begin_ns);
  CHECK(sent.begin_ns <= sent.end_ns);
  CHECK(sent.begin_ns <= received.begin_ns);
  CHECK(received.begin_ns <= received.end_ns);
  CHECK(received.end_ns <= after);
}

TEMPLATE_TEST_CASE("a close between two frames is told from everything else", "", TcpLoopback, Socketpair) {
  auto [a, b] = make_links<TestType>();
  a.send_message("the last");
  { const Link closed = std::move(a); }
  CHECK(b.receive_message() == "the last");
  CHECK(contains(message_of<Closed>([&link = b] { link.receive_message(); }), "the peer closed it"));
}

TEMPLATE_TEST_CASE("shutdown from another thread wakes a receiver", "", TcpLoopback, Socketpair) {
  auto [a, b] = make_links<TestType>();
  auto receiver = std::async(std::launch::async, [&link = a] { link.receive_message(); });
  a.shutdown();
  CHECK(contains(message_of<Closed>([&] { receiver.get(); }), "shut down on this side"));
  CHECK_THROWS_AS(b.receive_message(), Closed);
  CHECK_NOTHROW(a.shutdown());
}

TEMPLATE_TEST_CASE("shutdown from another thread wakes a receiver in the middle of a frame", "", TcpLoopback,
                   Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  raw.send(encode(TensorFrame{1, 0, bytes_spec(1000)}));
  std::vector<std::byte> bytes(1000);
  auto receiver =
      std::async(std::launch::async, [&bytes, &used = link] { used.receive_tensor(1, 0, bytes_spec(1000), bytes); });
  link.shutdown();
  CHECK_THROWS_AS(receiver.get(), Closed);
}

TEMPLATE_TEST_CASE("shutdown from another thread wakes a sender whose peer does not read", "", TcpLoopback,
                   Socketpair) {
  auto [a, b] = make_links<TestType>();
  const std::size_t more_than_any_buffer = std::size_t{64} << 20;
  const std::vector<std::byte> bytes(more_than_any_buffer);
  auto sender =
      std::async(std::launch::async, [&link = a, &bytes] { link.send_tensor(1, 0, bytes_spec(bytes.size()), bytes); });
  a.shutdown();
  CHECK_THROWS_AS(sender.get(), Closed);
}

TEMPLATE_TEST_CASE("a signal in the middle of a frame is no error to the receiver", "", TcpLoopback, Socketpair) {
  const InterruptingHandler handler;
  auto [link, raw] = make_link_and_raw<TestType>();
  const auto golden = golden_bytes("control");
  json message;
  std::thread receiver([&message, &used = link] { message = used.receive_message(); });
  interrupt(receiver, 20);
  raw.send(golden.data(), 10);
  interrupt(receiver, 40);
  raw.send(golden.data() + 10, golden.size() - 10);
  receiver.join();
  CHECK(signals_handled > 0);
  CHECK(message == json{{"type", "hello"}});
}

TEMPLATE_TEST_CASE("a signal in the middle of a frame is no error to the sender", "", TcpLoopback, Socketpair) {
  const InterruptingHandler handler;
  auto [a, b] = make_links<TestType>();
  const auto bytes = pattern(std::size_t{16} << 20, 5);
  const auto spec = bytes_spec(bytes.size());
  std::thread sender([&, &link = a] { link.send_tensor(1, 0, spec, bytes); });
  interrupt(sender, 50);
  std::vector<std::byte> received(bytes.size());
  b.receive_tensor(1, 0, spec, received);
  sender.join();
  CHECK(signals_handled > 0);
  CHECK(received == bytes);
}

TEMPLATE_TEST_CASE("memory of another size than the tensor's is a defect of the caller", "", TcpLoopback, Socketpair) {
  auto [a, b] = make_links<TestType>();
  std::vector<std::byte> bytes(9);
  CHECK_THROWS_AS(a.send_tensor(1, 0, bytes_spec(8), bytes), paretopipe::Error);
  CHECK_THROWS_AS(b.receive_tensor(1, 0, bytes_spec(8), bytes), paretopipe::Error);
}

TEST_CASE("a link is named after its peer, does not survive exec and does not wait to fill packets") {
  auto [tcp, other] = make_links<TcpLoopback>();
  CHECK(contains(tcp.peer_name(), "127.0.0.1:"));
  CHECK((::fcntl(tcp.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
  int no_delay = 0;
  socklen_t size = sizeof(no_delay);
  REQUIRE(::getsockopt(tcp.native_handle(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size) == 0);
  CHECK(no_delay != 0);

  auto [local, partner] = make_link_pair();
  CHECK(local.peer_name() == "socketpair");
  CHECK((::fcntl(partner.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
  local.send_message(1);
  CHECK(partner.receive_message() == 1);
}

TEST_CASE("a descriptor that is not a stream socket does not become a link") {
  CHECK_THROWS_AS(Link(::socket(AF_INET, SOCK_DGRAM, 0)), paretopipe::EnvironmentError);
  CHECK_THROWS_AS(Link(::open("/dev/null", O_RDONLY | O_CLOEXEC)), paretopipe::EnvironmentError);
  CHECK_THROWS_AS(Link(-1), paretopipe::EnvironmentError);
}
