#include <paretopipe/experiment/partitions.hpp>

#include <algorithm>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;

namespace {

/// How many blocks each stage gets.
std::vector<int> sizes_of(Scheme scheme, int blocks, int stages) {
  std::vector<int> sizes;
  int begin = 0;
  for (const int cut : share_blocks(scheme, blocks, stages)) {
    sizes.push_back(cut - begin);
    begin = cut;
  }
  sizes.push_back(blocks - begin);
  return sizes;
}

}  // namespace

TEST_CASE("schemes share the blocks out as their weights say", "[schemes]") {
  // Multiples of the sums of the weights: nothing has to be rounded.
  CHECK(sizes_of(Scheme::equal_load, 20, 4) == std::vector<int>{5, 5, 5, 5});
  CHECK(sizes_of(Scheme::front_load, 20, 4) == std::vector<int>{8, 6, 4, 2});
  CHECK(sizes_of(Scheme::front_heavy, 30, 4) == std::vector<int>{16, 8, 4, 2});
  CHECK(sizes_of(Scheme::middle_load, 18, 4) == std::vector<int>{3, 6, 6, 3});
  CHECK(sizes_of(Scheme::middle_load, 18, 5) == std::vector<int>{2, 4, 6, 4, 2});
  CHECK(sizes_of(Scheme::end_load, 20, 4) == std::vector<int>{2, 4, 6, 8});
  CHECK(sizes_of(Scheme::end_heavy, 30, 4) == std::vector<int>{2, 4, 8, 16});
}

TEST_CASE("whatever the numbers, every block has a stage and every stage a block", "[schemes]") {
  for (const auto& [scheme, word] : kSchemes) {
    if (scheme == Scheme::equal_time) continue;
    for (int stages = 2; stages <= 16; ++stages) {
      for (int blocks = stages; blocks <= 40; ++blocks) {
        const auto sizes = sizes_of(scheme, blocks, stages);
        CAPTURE(word, stages, blocks);
        CHECK(sizes.size() == static_cast<std::size_t>(stages));
        CHECK(*std::min_element(sizes.begin(), sizes.end()) >= 1);
      }
    }
  }
}

TEST_CASE("schemes keep the order of their weights", "[schemes]") {
  for (int blocks = 4; blocks <= 40; ++blocks) {
    CAPTURE(blocks);
    const auto falls = [&](Scheme scheme) {
      const auto sizes = sizes_of(scheme, blocks, 4);
      return std::is_sorted(sizes.rbegin(), sizes.rend());
    };
    CHECK(falls(Scheme::front_load));
    CHECK(falls(Scheme::front_heavy));
    CHECK(share_blocks(Scheme::front_heavy, blocks, 4).front() >= share_blocks(Scheme::front_load, blocks, 4).front());
    const auto end = sizes_of(Scheme::end_heavy, blocks, 4);
    CHECK(std::is_sorted(end.begin(), end.end()));
    const auto equal = sizes_of(Scheme::equal_load, blocks, 4);
    CHECK(*std::max_element(equal.begin(), equal.end()) - *std::min_element(equal.begin(), equal.end()) <= 1);
  }
}
