#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "socket_pairs.hpp"

using namespace paretopipe::wire;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

const TensorSpec kTwoMegabytes{DType::float32, MemoryFormat::contiguous, {500, 1000}};

/// Why a receiver refuses what comes where tag 3, sequence 7 of two megabytes was announced.
template <class Exception>
std::string refusal_of_tensor(Link& link) {
  std::vector<std::byte> bytes(2'000'000);
  return message_of<Exception>([&] { link.receive_tensor(3, 7, kTwoMegabytes, bytes); });
}

template <class Exception>
std::string refusal_of_message(Link& link) {
  return message_of<Exception>([&] { link.receive_message(); });
}

std::size_t unread_bytes(const Link& link) {
  std::array<char, 100> bytes{};
  const auto count = ::recv(link.native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

std::vector<std::byte> frame(const FrameHeader& header, const std::string& body) {
  const HeaderBytes bytes = encode(header);
  std::vector<std::byte> result(bytes.begin(), bytes.end());
  for (const char c : body) result.push_back(static_cast<std::byte>(c));
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("2 TB where 2 MB were announced are refused before the body is read", "", TcpLoopback, Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  const TensorSpec huge{DType::float32, MemoryFormat::contiguous, {500, 1'000'000'000}};
  raw.send(frame(TensorFrame{3, 7, huge}, "a body follows"));
  CHECK(contains(
      refusal_of_tensor<ProtocolError>(link),
      "expected tensor float32[500x1000] (tag 3, sequence 7), got tensor float32[500x1000000000] (tag 3, sequence 7)"));
  CHECK(unread_bytes(link) == std::strlen("a body follows"));
}

TEMPLATE_TEST_CASE("a length that contradicts the shape is refused before the body is read", "", TcpLoopback,
                   Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  auto bytes = frame(TensorFrame{3, 7, kTwoMegabytes}, "a body follows");
  bytes[21] = std::byte{2};  // 2 TiB more
  raw.send(bytes);
  CHECK(contains(refusal_of_tensor<ProtocolError>(link), "expected a body of 2000000 bytes"));
  CHECK(unread_bytes(link) == std::strlen("a body follows"));
}

TEMPLATE_TEST_CASE("a tensor of another trial, batch, shape, type or order is refused", "", TcpLoopback, Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  auto other = GENERATE(TensorFrame{2, 7, kTwoMegabytes}, TensorFrame{3, 8, kTwoMegabytes},
                        TensorFrame{3, 7, {DType::float32, MemoryFormat::contiguous, {1000, 500}}},
                        TensorFrame{3, 7, {DType::int64, MemoryFormat::contiguous, {250, 1000}}},
                        TensorFrame{3, 7, {DType::float32, MemoryFormat::channels_last, {500, 1000, 1, 1}}},
                        TensorFrame{3, 7, kTwoMegabytes, Encoding{4, 2'000'000}});
  raw.send(encode(other));
  CHECK(contains(refusal_of_tensor<ProtocolError>(link), "got " + to_string(FrameHeader(other))));
}

TEMPLATE_TEST_CASE("an encoded tensor that is longer than it can be, of another codec or plain is refused unread", "",
                   TcpLoopback, Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  const auto other =
      GENERATE(TensorFrame{3, 7, kTwoMegabytes, Encoding{4, 101}}, TensorFrame{3, 7, kTwoMegabytes, Encoding{5, 100}},
               TensorFrame{3, 7, kTwoMegabytes}, TensorFrame{3, 8, kTwoMegabytes, Encoding{4, 100}});
  raw.send(frame(other, "body"));
  std::vector<std::byte> memory(100);
  const auto text =
      message_of<ProtocolError>([&, &used = link] { used.receive_encoded(3, 7, kTwoMegabytes, 4, memory); });
  CHECK(contains(text, "expected at most tensor"));
  CHECK(contains(text, "got " + to_string(FrameHeader(other))));
  CHECK(unread_bytes(link) == 4);
}

TEMPLATE_TEST_CASE("a frame of another kind than expected, or of another protocol, is refused", "", TcpLoopback,
                   Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  auto [web, browser] = make_link_and_raw<TestType>();
  browser.send(std::string("GET / HTTP/1.1\r\nHost: 127.0.0.1:5000\r\nUser-Agent: something else altogether\r\n\r\n"));
  CHECK(contains(refusal_of_message<ProtocolError>(web), "the peer is not paretopipe"));
  raw.send(encode(ControlFrame{5}));
  CHECK(contains(refusal_of_tensor<ProtocolError>(link), "got control message of 5 bytes"));
  raw.send(encode(Challenge{}));
  CHECK(contains(refusal_of_tensor<ProtocolError>(link), "got challenge"));
  raw.send(encode(TensorFrame{3, 7, kTwoMegabytes}));
  CHECK(contains(refusal_of_message<ProtocolError>(link), "expected a control message, got tensor"));
}

TEMPLATE_TEST_CASE("a peer that closes in the middle of a body or a header is lost, not closed", "", TcpLoopback,
                   Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  SECTION("body") {
    raw.send(frame(TensorFrame{3, 7, kTwoMegabytes}, std::string(1000, 'x')));
    raw.close();
    const std::string text = refusal_of_tensor<ConnectionLost>(link);
    CHECK(contains(text, "after 1000 of 2000000 bytes"));
    CHECK(contains(text, "the peer closed the connection"));
  }
  SECTION("header") {
    raw.send(encode(ControlFrame{5}).data(), 17);
    raw.close();
    CHECK(contains(refusal_of_message<ConnectionLost>(link), "after 17 of 64 bytes"));
  }
  SECTION("message") {
    raw.send(frame(ControlFrame{5}, "{}"));
    raw.close();
    CHECK(contains(refusal_of_message<ConnectionLost>(link), "after 2 of 5 bytes"));
  }
  SECTION("reset, over TCP") {
    auto [other, reset] = make_link_and_raw<TcpLoopback>();
    reset.reset();
    CHECK(contains(refusal_of_message<ConnectionLost>(other), "Connection reset by peer"));
  }
}

TEMPLATE_TEST_CASE("sending to a peer that has gone is an error and no signal", "", TcpLoopback, Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  raw.close();
  // TCP learns of it from the answer to the first frame.
  const auto send_for_ever = [&used = link] {
    for (;;) used.send_message("still there?");
  };
  CHECK_THROWS_AS(send_for_ever(), ConnectionLost);
}

TEMPLATE_TEST_CASE("a control message beyond the cap is refused before the body is read", "", TcpLoopback, Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  auto bytes = frame(ControlFrame{5}, "a body follows");
  const auto claimed = GENERATE(as<std::uint64_t>{}, kMaxControlBytes + 1, std::uint64_t{2} << 40,
                                std::numeric_limits<std::uint64_t>::max());
  std::memcpy(bytes.data() + 16, &claimed, sizeof(claimed));
  raw.send(bytes);
  CHECK(contains(refusal_of_message<ProtocolError>(link), "expected a control message of 1 ... 67108864 bytes"));
  CHECK(unread_bytes(link) == std::strlen("a body follows"));
}

TEMPLATE_TEST_CASE("a control message that is not JSON in UTF-8, or nested without end, is refused", "", TcpLoopback,
                   Socketpair) {
  auto [link, raw] = make_link_and_raw<TestType>();
  const auto body = GENERATE(as<std::string>{}, "{", "\"\xff\"", "{\"a\":1}}", std::string(10'000, '['));
  raw.send(frame(ControlFrame{body.size()}, body));
  CHECK(contains(refusal_of_message<ProtocolError>(link), "control message: expected JSON"));
}
