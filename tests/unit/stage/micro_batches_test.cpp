#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "ring.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using stage::Activation;

namespace {

/// Of the shape, with bytes that are all different from their neighbours.
Activation a_batch(const std::vector<std::int64_t>& shape, wire::MemoryFormat format = wire::MemoryFormat::contiguous) {
  auto batch = make_backend()->allocate({wire::DType::float32, format, shape});
  for (std::size_t i = 0; i < batch.bytes.size(); ++i) batch.bytes[i] = static_cast<std::byte>(i % 251);
  return batch;
}

std::vector<std::byte> joined(const std::vector<Activation>& parts) {
  std::vector<std::byte> bytes;
  for (const auto& part : parts) bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
  return bytes;
}

}  // namespace

TEST_CASE("the micro-batches of a batch, one after the other, are the batch") {
  const auto format = GENERATE(wire::MemoryFormat::contiguous, wire::MemoryFormat::channels_last);
  const auto batch = a_batch({12, 3, 5, 7}, format);
  const auto backend = make_backend();
  for (const int micro_batches : {1, 2, 3, 4, 6, 12}) {
    CAPTURE(micro_batches);
    for (const auto& parts : {stage::parts_of(batch, micro_batches), stage::cut(batch, micro_batches, *backend)}) {
      REQUIRE(parts.size() == static_cast<std::size_t>(micro_batches));
      CHECK(std::ranges::equal(joined(parts), batch.bytes));
      for (const auto& part : parts) {
        CHECK(part.spec.shape == std::vector<std::int64_t>{12 / micro_batches, 3, 5, 7});
        CHECK(part.spec.memory_format == format);
        CHECK(part.bytes.size() == static_cast<std::size_t>(wire::byte_size(part.spec)));
        CHECK(stage::whole_batch(part.spec, micro_batches) == batch.spec);
      }
    }
  }
}

TEST_CASE("parts are the batch's own memory, and cut micro-batches are copies that outlive it") {
  const auto backend = make_backend();
  std::vector<Activation> micro_batches;
  {
    const auto batch = a_batch({4, 10});
    CHECK(stage::parts_of(batch, 2)[1].bytes.data() == batch.bytes.data() + 2 * 10 * 4);
    CHECK(stage::cut(batch, 1, *backend)[0].bytes.data() == batch.bytes.data());
    micro_batches = stage::cut(batch, 2, *backend);
    batch.bytes[0] = std::byte{77};
  }
  CHECK(micro_batches[0].bytes[0] == std::byte{0});
  CHECK(micro_batches[1].bytes[0] == std::byte{80});
}

TEST_CASE("what cannot be cut, or put together, is refused") {
  CHECK_THROWS_AS(stage::parts_of(a_batch({4, 10}), 3), Error);
  CHECK_THROWS_AS(stage::parts_of(a_batch({}), 2), Error);
  CHECK_THROWS_AS(stage::whole_batch({wire::DType::float32, wire::MemoryFormat::contiguous, {}}, 2),
                  wire::ProtocolError);
  const std::int64_t large = 4'000'000'000;
  CHECK_THROWS_AS(stage::whole_batch({wire::DType::float32, wire::MemoryFormat::contiguous, {large}}, 2),
                  wire::ProtocolError);
}
