#include <paretopipe/wire/frame.hpp>

#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe::wire;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

const FrameHeader kTensor = TensorFrame{3, 7, {DType::float32, MemoryFormat::contiguous, {2, 5}}};
const FrameHeader kControl = ControlFrame{120};
const FrameHeader kGreeting = Greeting{42};

/// Why `frame`'s header is refused once the byte at `offset` has been replaced.
std::string refusal(const FrameHeader& frame, std::size_t offset, int value) {
  HeaderBytes bytes = encode(frame);
  bytes.at(offset) = static_cast<std::byte>(value);
  return message_of<ProtocolError>([&] { decode(bytes); });
}

}  // namespace

TEST_CASE("a header that is not ours is refused by its first bytes") {
  CHECK(contains(refusal(kTensor, 0, 'G'), "expected the bytes 50504950 (\"PPIP\") first, got 47504950"));
}

TEST_CASE("a peer of another protocol version is told which one is spoken here") {
  CHECK(contains(refusal(kTensor, 4, 2), "expected protocol version 1, got 2"));
  CHECK(contains(refusal(kTensor, 5, 1), "expected protocol version 1, got 257"));
}

TEST_CASE("an unknown frame type is refused") {
  CHECK(contains(refusal(kTensor, 6, 0), "expected type 1 (control), 2 (tensor) or 3 (greeting), got 0"));
  CHECK(contains(refusal(kTensor, 6, 4), "got 4"));
  CHECK(contains(refusal(kTensor, 7, 1), "got 258"));
}

TEST_CASE("a body whose length is not the tensor's is refused in both directions") {
  CHECK(contains(refusal(kTensor, 16, 41), "expected a body of 40 bytes for float32[2x5], got 41"));
  CHECK(contains(refusal(kTensor, 16, 39), "got 39"));
  CHECK(contains(refusal(kTensor, 21, 2), "got 2199023255592"));
}

TEST_CASE("a header that describes no tensor is refused") {
  CHECK(contains(refusal(kTensor, 28, 0), "expected dtype 1 (float32), 2 (bfloat16) or 3 (int64), got 0"));
  CHECK(contains(refusal(kTensor, 28, 4), "got 4"));
  CHECK(contains(refusal(kTensor, 29, 0), "memory format"));
  CHECK(contains(refusal(kTensor, 29, 2), "channels_last needs four dimensions"));
  CHECK(contains(refusal(kTensor, 30, 9), "expected a rank of 0 ... 8, got 9"));
  CHECK(contains(refusal(kTensor, 30, 1), "expected the dimensions after rank 1 to be 0"));
  CHECK(contains(refusal(kTensor, 30, 3), "every dimension must be 1 ... 4294967295"));
  CHECK(contains(refusal(kTensor, 31, 1), "expected the reserved byte to be 0, got 1"));
  CHECK(contains(refusal(kTensor, 32, 0), "every dimension must be 1 ... 4294967295"));
  CHECK(contains(refusal(kTensor, 63, 1), "expected the dimensions after rank 2 to be 0"));
}

TEST_CASE("a shape whose size overflows is refused before it is multiplied out") {
  HeaderBytes bytes = encode(TensorFrame{0, 0, {DType::int64, MemoryFormat::contiguous, {1, 1, 1, 1, 1, 1, 1, 1}}});
  std::fill(bytes.begin() + 32, bytes.end(), std::byte{0xff});
  CHECK(contains(message_of<ProtocolError>([&] { decode(bytes); }), "exceeds 2^63 - 1 bytes"));
}

TEST_CASE("a control message beyond the cap, or without a body, is refused") {
  CHECK(decode(encode(ControlFrame{1})) == FrameHeader(ControlFrame{1}));
  CHECK(decode(encode(ControlFrame{kMaxControlBytes})) == FrameHeader(ControlFrame{kMaxControlBytes}));
  CHECK(contains(refusal(ControlFrame{kMaxControlBytes}, 16, 1), "got 67108865"));
  CHECK(contains(refusal(kControl, 16, 0), "got 0"));
  CHECK(contains(refusal(kControl, 23, 0x80), "got 9223372036854775928"));
}

TEST_CASE("a control message or a greeting with a field that only tensors have is refused") {
  const auto frame = GENERATE(kControl, kGreeting);
  const auto offset = GENERATE(24, 27, 28, 29, 30, 32, 63);
  CAPTURE(to_string(frame), offset);
  CHECK(contains(refusal(frame, static_cast<std::size_t>(offset), 1), "to be 0, got others"));
}

TEST_CASE("a numbered control message and a greeting with a body are refused") {
  CHECK(contains(refusal(kControl, 8, 1), "expected sequence 0 in a control message, got 1"));
  CHECK(contains(refusal(kGreeting, 16, 1), "expected a greeting without a body, got 1 bytes"));
}

TEST_CASE("a header that no peer would accept cannot be encoded") {
  CHECK_THROWS_AS(encode(ControlFrame{0}), ProtocolError);
  CHECK_THROWS_AS(encode(ControlFrame{kMaxControlBytes + 1}), ProtocolError);
  CHECK_THROWS_AS(encode(TensorFrame{0, 0, {DType::float32, MemoryFormat::contiguous, {1, 0}}}), ProtocolError);
  CHECK_THROWS_AS(encode(TensorFrame{0, 0, {DType::float32, MemoryFormat::channels_last, {1}}}), ProtocolError);
  CHECK_THROWS_AS(encode(TensorFrame{0, 0, {DType::float32, MemoryFormat::contiguous, {1, 1, 1, 1, 1, 1, 1, 1, 1}}}),
                  ProtocolError);
}

TEST_CASE("a frame reads as its kind and what tells it from others, without a greeting's token") {
  CHECK(to_string(kTensor) == "tensor float32[2x5] (tag 3, sequence 7)");
  CHECK(to_string(kControl) == "control message of 120 bytes");
  CHECK(to_string(kGreeting) == "greeting");
}
