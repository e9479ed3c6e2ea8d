#include <paretopipe/stage/encoding.hpp>

#include <support/catch.hpp>

using namespace paretopipe;

TEST_CASE("a codec sees channels where a tensor has places beside them, and one channel elsewhere") {
  struct Case {
    std::vector<std::int64_t> shape;
    wire::MemoryFormat format;
    std::size_t channels, stride;
  };
  constexpr auto kContiguous = wire::MemoryFormat::contiguous;
  const std::vector<Case> cases{{{2, 8, 3, 5}, kContiguous, 8, 15},
                                {{2, 8, 3, 5}, wire::MemoryFormat::channels_last, 8, 1},
                                {{2, 7, 8}, kContiguous, 8, 1},  // tokens
                                {{2, 8}, kContiguous, 1, 1},     // a pair of levels a feature would be more bytes
                                {{8}, kContiguous, 1, 1}};
  for (const auto& [shape, format, channels, stride] : cases) {
    const auto layout = stage::layout_of({wire::DType::float32, format, shape});
    CAPTURE(shape);
    CHECK(layout.channels == channels);
    CHECK(layout.stride == stride);
    CHECK(layout.values % (channels * stride) == 0);
  }
}
