#include <paretopipe/core/hash.hpp>

#include <array>
#include <cstdlib>
#include <vector>

#include <support/catch.hpp>

using paretopipe::draw_below;

TEST_CASE("draws below a bound are the same on every standard library") {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 8; ++i) drawn.push_back(draw_below(random, 10));
  CHECK(drawn == std::vector<std::uint64_t>{8, 2, 0, 6, 4, 9, 8, 5});
}

TEST_CASE("draws stay below their bound and reach every value about equally often") {
  std::mt19937_64 random(2);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts.at(draw_below(random, 6));
  for (const int count : counts) CHECK(std::abs(count - 10'000) < 500);  // over five standard deviations
  CHECK(draw_below(random, 1) == 0);
}
