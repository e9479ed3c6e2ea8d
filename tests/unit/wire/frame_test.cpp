#include <paretopipe/wire/control_body.hpp>
#include <paretopipe/wire/frame.hpp>

#include <cstring>
#include <optional>
#include <random>
#include <string>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "golden.hpp"

using namespace paretopipe::wire;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

const FrameHeader kTensor = TensorFrame{3, 7, {DType::float32, MemoryFormat::contiguous, {2, 5}}};
const FrameHeader kEncoded = TensorFrame{3, 7, {DType::float32, MemoryFormat::contiguous, {2, 5}}, Encoding{4, 18}};
const FrameHeader kControl = ControlFrame{120};

/// The 32 bytes from `first` on, one more each.
Bytes32 counting_from(int first) {
  Bytes32 bytes;
  for (auto& byte : bytes) byte = static_cast<std::byte>(first++);
  return bytes;
}

const FrameHeader kChallenge = Challenge{counting_from(0)};
const FrameHeader kProof = Proof{counting_from(0x80)};

/// Why `frame`'s header is refused once the byte at `offset` has been replaced.
std::string refusal(const FrameHeader& frame, std::size_t offset, int value) {
  HeaderBytes bytes = encode(frame);
  bytes.at(offset) = static_cast<std::byte>(value);
  return message_of<ProtocolError>([&] { decode(bytes); });
}

}  // namespace

TEST_CASE("a header that is not ours, of another version or type, or that describes no tensor is refused") {
  struct Change {
    std::size_t offset;
    int value;
    const char* words;
  };
  for (const auto& [offset, value, words] :
       {Change{0, 'G', "expected the bytes 50504950 (\"PPIP\") first, got 47504950"},
        Change{4, 1, "expected protocol version 3, got 1"}, Change{5, 1, "expected protocol version 3, got 259"},
        Change{6, 0, "expected type 1 (control), 2 (tensor), 3 (challenge) or 4 (proof), got 0"}, Change{6, 5, "got 5"},
        Change{7, 1, "got 258"}, Change{16, 41, "expected a body of 40 bytes for float32[2x5], got 41"},
        Change{16, 39, "got 39"}, Change{21, 2, "got 2199023255592"},
        Change{28, 0, "expected dtype 1 (float32), 2 (bfloat16) or 3 (int64), got 0"}, Change{28, 4, "got 4"},
        Change{29, 0, "memory format"}, Change{29, 2, "channels_last needs four dimensions"},
        Change{30, 9, "expected a rank of 0 ... 8, got 9"},
        Change{30, 1, "expected the dimensions after rank 1 to be 0"},
        Change{30, 3, "every dimension must be 1 ... 4294967295"},
        Change{32, 0, "every dimension must be 1 ... 4294967295"},
        Change{63, 1, "expected the dimensions after rank 2 to be 0"}}) {
    CAPTURE(offset, value);
    CHECK(contains(refusal(kTensor, offset, value), words));
  }
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

TEST_CASE("a control message, a challenge or a proof with a field that only others have is refused") {
  const auto frame = GENERATE(kControl, kChallenge, kProof);
  const auto offset = GENERATE(24, 27, 28, 29, 30, 31);
  CAPTURE(to_string(frame), offset);
  CHECK(contains(refusal(frame, static_cast<std::size_t>(offset), 1), "to be 0, got others"));
  for (const std::size_t of_dimensions : {32, 63}) {
    CHECK(contains(refusal(kControl, of_dimensions, 1), "dimensions of a control message to be 0, got others"));
  }
  CHECK(contains(refusal(kControl, 8, 1), "expected sequence 0 in a control message, got 1"));
  CHECK(contains(refusal(kChallenge, 8, 1), "expected sequence 0 in a challenge, got 1"));
  CHECK(contains(refusal(kProof, 16, 1), "expected a proof without a body, got 1 bytes"));
}

TEST_CASE("an encoded tensor has a body of any length but none") {
  CHECK(decode(encode(kEncoded)) == kEncoded);
  CHECK(contains(refusal(kEncoded, 16, 0), "expected 1 ... 9223372036854775807 bytes of an encoded tensor, got 0"));
  CHECK(contains(refusal(kEncoded, 23, 0x80), "got 9223372036854775826"));
  CHECK(contains(refusal(kEncoded, 30, 9), "expected a rank of 0 ... 8, got 9"));
  CHECK_THROWS_AS(encode(TensorFrame{3, 7, {}, Encoding{0, 18}}), ProtocolError);
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
  CHECK(to_string(kEncoded) == "tensor float32[2x5] (tag 3, sequence 7), 18 bytes of codec 4");
  CHECK(to_string(kControl) == "control message of 120 bytes");
  CHECK(to_string(kChallenge) == "challenge");
  CHECK(to_string(kProof) == "proof");
}

TEST_CASE("a tensor's size is the product of its dimensions and its element's size") {
  CHECK(byte_size({DType::float32, MemoryFormat::contiguous, {8, 3, 224, 224}}) == 8 * 3 * 224 * 224 * 4);
  CHECK(byte_size({DType::bfloat16, MemoryFormat::channels_last, {1, 2, 3, 4}}) == 48);
  CHECK(byte_size({DType::int64, MemoryFormat::contiguous, {5}}) == 40);
  CHECK(byte_size({DType::float32, MemoryFormat::contiguous, {}}) == 4);
}

TEST_CASE("the largest sizes are computed exactly and larger ones are refused instead of wrapping") {
  const std::int64_t most = 4294967295;
  CHECK(byte_size({DType::float32, MemoryFormat::contiguous, {most, 536870912}}) == 9223372034707292160);
  CHECK_THROWS_AS(byte_size({DType::float32, MemoryFormat::contiguous, {most, 536870913}}), ProtocolError);
  CHECK_THROWS_AS(byte_size({DType::float32, MemoryFormat::contiguous, {65536, 65536, 65536, 65536}}), ProtocolError);
}

TEST_CASE("a spec that breaks a rule has no size") {
  const auto spec = GENERATE(TensorSpec{DType::float32, MemoryFormat::contiguous, {1, 0}},
                             TensorSpec{DType::float32, MemoryFormat::contiguous, {-1}},
                             TensorSpec{DType::float32, MemoryFormat::contiguous, {4294967296}},
                             TensorSpec{DType::float32, MemoryFormat::contiguous, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
                             TensorSpec{DType::float32, MemoryFormat::channels_last, {1, 2, 3}},
                             TensorSpec{DType::float32, static_cast<MemoryFormat>(3), {1}},
                             TensorSpec{static_cast<DType>(0), MemoryFormat::contiguous, {1}},
                             TensorSpec{static_cast<DType>(4), MemoryFormat::contiguous, {1}});
  CAPTURE(to_string(spec));
  CHECK_THROWS_AS(byte_size(spec), ProtocolError);
}

TEST_CASE("a spec reads as its dtype, its shape and its memory format where that is unusual") {
  CHECK(to_string(TensorSpec{DType::float32, MemoryFormat::contiguous, {8, 3, 224, 224}}) == "float32[8x3x224x224]");
  CHECK(to_string(TensorSpec{DType::bfloat16, MemoryFormat::channels_last, {1, 2, 3, 4}}) ==
        "bfloat16[1x2x3x4] channels_last");
  CHECK(to_string(TensorSpec{DType::int64, MemoryFormat::contiguous, {}}) == "int64[]");
  CHECK(to_string(TensorSpec{static_cast<DType>(9), static_cast<MemoryFormat>(7), {1}}) ==
        "dtype 9[1] memory format 7");
}

namespace {

using Random = std::mt19937_64;
constexpr int kRounds = 20000;

std::uint64_t below(Random& random, std::uint64_t bound) {
  return random() % bound;
}

Bytes32 random_bytes(Random& random) {
  Bytes32 bytes;
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

FrameHeader random_frame(Random& random) {
  switch (below(random, 4)) {
    case 0:
      return ControlFrame{1 + below(random, kMaxControlBytes)};
    case 1:
      return Challenge{random_bytes(random)};
    case 2:
      return Proof{random_bytes(random)};
    default:
      break;
  }
  TensorFrame frame{static_cast<std::uint32_t>(random()), random(), {}};
  frame.spec.dtype = static_cast<DType>(1 + below(random, 3));
  // 2^7 in each of at most eight dimensions keeps the size within 2^59 bytes.
  for (auto rank = below(random, kMaxRank + 1); rank > 0; --rank) {
    frame.spec.shape.push_back(static_cast<std::int64_t>(1 + below(random, 128)));
  }
  if (frame.spec.shape.size() == 4 && below(random, 2) == 0) frame.spec.memory_format = MemoryFormat::channels_last;
  if (below(random, 2) == 0) {
    frame.encoding = {static_cast<std::uint8_t>(1 + below(random, 255)), 1 + below(random, std::uint64_t{1} << 40)};
  }
  return frame;
}

std::optional<FrameHeader> try_decode(const HeaderBytes& bytes) {
  try {
    return decode(bytes);
  } catch (const ProtocolError&) {
    return std::nullopt;
  }
}

bool refused_or_canonical(const HeaderBytes& bytes) {
  const auto header = try_decode(bytes);
  return !header || encode(*header) == bytes;
}

void flip(HeaderBytes& bytes, std::size_t bit) {
  bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
}

}  // namespace

TEST_CASE("every frame comes back from its encoding as it was") {
  Random random(1);
  std::vector<std::string> others;
  for (int round = 0; round < kRounds; ++round) {
    const FrameHeader frame = random_frame(random);
    if (decode(encode(frame)) != frame) others.push_back(to_string(frame));
  }
  CHECK(others == std::vector<std::string>{});
}

TEST_CASE("flipping any single bit of a valid header gives one that is refused or another canonical one") {
  Random random(2);
  std::vector<std::string> neither;
  for (int round = 0; round < kRounds / 100; ++round) {
    const FrameHeader frame = random_frame(random);
    for (std::size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
      HeaderBytes bytes = encode(frame);
      flip(bytes, bit);
      if (!refused_or_canonical(bytes)) neither.push_back(to_string(frame) + ", bit " + std::to_string(bit));
    }
  }
  CHECK(neither == std::vector<std::string>{});
}

TEST_CASE(
    "a flipped bit in anything but tag, sequence, codec, a secret or a control message's length never goes unnoticed") {
  const auto check_every_bit = [](const FrameHeader& frame, const auto& is_free) {
    int accepted = 0;
    for (std::size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
      HeaderBytes bytes = encode(frame);
      flip(bytes, bit);
      CAPTURE(to_string(frame), bit);
      const bool unnoticed = try_decode(bytes).has_value();
      CHECK((!unnoticed || is_free(bit / 8)));
      accepted += unnoticed ? 1 : 0;
    }
    return accepted;
  };
  const auto in_tensor = [](std::size_t byte) {
    return (byte >= 8 && byte < 16) || (byte >= 24 && byte < 28) || byte == 31;
  };
  const auto in_secret = [](std::size_t byte) { return byte >= 32; };
  CHECK(check_every_bit(TensorFrame{3, 7, {DType::float32, MemoryFormat::contiguous, {2, 5, 3}}}, in_tensor) == 8 * 13);
  CHECK(check_every_bit(kControl, [](std::size_t byte) { return byte >= 16 && byte < 24; }) == 26);  // up to the cap
  CHECK(check_every_bit(kChallenge, in_secret) == 8 * 32);
  CHECK(check_every_bit(kProof, in_secret) == 8 * 32);
}

TEST_CASE("headers mutated in several places are refused or canonical") {
  Random random(3);
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    HeaderBytes bytes = encode(random_frame(random));
    for (auto changes = 1 + below(random, 4); changes > 0; --changes) {
      // Mostly behind the preamble, where a change can lead to a different valid header.
      const auto at = below(random, 10) == 0 ? below(random, kHeaderBytes) : 6 + below(random, kHeaderBytes - 6);
      bytes[at] = static_cast<std::byte>(below(random, 2) == 0 ? below(random, 4) : random());
    }
    if (!refused_or_canonical(bytes)) FAIL("round " << round);
    accepted += try_decode(bytes).has_value() ? 1 : 0;
  }
  CHECK(accepted > 0);
}

TEST_CASE("random bytes behind a valid preamble are refused or canonical") {
  Random random(4);
  std::vector<int> neither;  // rounds
  for (int round = 0; round < kRounds; ++round) {
    HeaderBytes bytes = encode(random_frame(random));
    for (std::size_t at = 8; at < kHeaderBytes; ++at) bytes[at] = static_cast<std::byte>(random());
    if (!refused_or_canonical(bytes)) neither.push_back(round);
  }
  CHECK(neither == std::vector<int>{});
}

namespace {

HeaderBytes header_of(const std::vector<std::byte>& frame) {
  HeaderBytes header;
  REQUIRE(frame.size() >= header.size());
  std::memcpy(header.data(), frame.data(), header.size());
  return header;
}

std::string body_of(const std::vector<std::byte>& frame) {
  return {reinterpret_cast<const char*>(frame.data()) + kHeaderBytes, frame.size() - kHeaderBytes};
}

}  // namespace

TEST_CASE("the golden frames decode to what the protocol's description says, and back") {
  const float values[] = {1.0F, -2.0F};
  const nlohmann::json message = {{"type", "hello"}};
  for (const auto& [name, header, body] : std::initializer_list<std::tuple<const char*, FrameHeader, std::string>>{
           {"tensor", TensorFrame{3, 7, {DType::float32, MemoryFormat::channels_last, {1, 2, 1, 1}}},
            std::string(reinterpret_cast<const char*>(values), sizeof(values))},
           {"encoded",
            TensorFrame{3, 7, {DType::float32, MemoryFormat::channels_last, {1, 2, 1, 1}}, Encoding{4, 5}},
            {"\0\0\x80\x3f\x07", 5}},
           {"control", ControlFrame{16}, encode_control_body(message)},
           {"challenge", kChallenge, ""},
           {"proof", kProof, ""}}) {
    CAPTURE(name);
    const auto frame = golden_bytes(name);
    CHECK(decode(header_of(frame)) == header);
    CHECK(encode(header) == header_of(frame));
    CHECK(body_of(frame) == body);
  }
  CHECK(decode_control_body(body_of(golden_bytes("control"))) == message);
}

TEST_CASE("the protocol's description and the fuzzer's seeds quote the golden frames") {
  const std::string name = GENERATE(as<std::string>{}, "tensor", "encoded", "control", "challenge", "proof");
  CAPTURE(name);
  const auto frame = golden_bytes(name);
  const std::string seed = read_source_file("tests/fuzz/corpus/wire/" + name + ".bin");
  CHECK(seed == std::string(reinterpret_cast<const char*>(frame.data()), frame.size()));
  if (name == "tensor")
    CHECK(read_source_file("lib/paretopipe/wire/README.md").find(golden_text(name)) != std::string::npos);
}
