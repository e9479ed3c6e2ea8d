#include <paretopipe/wire/frame.hpp>

#include <optional>
#include <random>

#include <support/catch.hpp>

using namespace paretopipe::wire;

namespace {

using Random = std::mt19937_64;
constexpr int kRounds = 20000;

std::uint64_t below(Random& random, std::uint64_t bound) {
  return random() % bound;
}

FrameHeader random_frame(Random& random) {
  switch (below(random, 3)) {
    case 0:
      return ControlFrame{1 + below(random, kMaxControlBytes)};
    case 1:
      return Greeting{random()};
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
  for (int round = 0; round < kRounds; ++round) {
    const FrameHeader frame = random_frame(random);
    if (decode(encode(frame)) != frame) FAIL(to_string(frame));
  }
  SUCCEED();
}

TEST_CASE("flipping any single bit of a valid header gives one that is refused or another canonical one") {
  Random random(2);
  for (int round = 0; round < kRounds / 100; ++round) {
    const FrameHeader frame = random_frame(random);
    for (std::size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
      HeaderBytes bytes = encode(frame);
      flip(bytes, bit);
      if (!refused_or_canonical(bytes)) FAIL(to_string(frame) << ", bit " << bit);
    }
  }
  SUCCEED();
}

TEST_CASE("a flipped bit in anything but tag, sequence, token or a control message's length never goes unnoticed") {
  const FrameHeader frame = TensorFrame{3, 7, {DType::float32, MemoryFormat::contiguous, {2, 5, 3}}};
  for (std::size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    const auto byte = bit / 8;
    const bool free = (byte >= 8 && byte < 16) || (byte >= 24 && byte < 28);
    HeaderBytes bytes = encode(frame);
    flip(bytes, bit);
    CAPTURE(bit);
    CHECK(try_decode(bytes).has_value() == free);
  }
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
  for (int round = 0; round < kRounds; ++round) {
    HeaderBytes bytes = encode(random_frame(random));
    for (std::size_t at = 8; at < kHeaderBytes; ++at) bytes[at] = static_cast<std::byte>(random());
    if (!refused_or_canonical(bytes)) FAIL("round " << round);
  }
  SUCCEED();
}
