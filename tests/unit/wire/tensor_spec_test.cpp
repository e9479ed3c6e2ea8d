#include <paretopipe/wire/frame.hpp>

#include <support/catch.hpp>

using namespace paretopipe::wire;

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
