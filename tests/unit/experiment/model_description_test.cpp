#include <paretopipe/experiment/model_description.hpp>

#include <stdexcept>

#include <support/catch.hpp>

using namespace paretopipe::experiment;
using nlohmann::json;
using Shape = std::vector<std::int64_t>;

namespace {

ModelDescription two_blocks() {
  return {.model = "tiny",
          .batch = 2,
          .input_shape = {2, 3, 8, 8},
          .input_bytes = 1536,
          .blocks = {{.name = "stem",
                      .output_shape = {2, 4, 4, 4},
                      .activation_bytes = 512,
                      .parameters = 112,
                      .parameter_bytes = 464,
                      .multiply_accumulates = 3456},
                     {.name = "head",
                      .output_shape = {2, 10},
                      .activation_bytes = 80,
                      .parameters = 650,
                      .parameter_bytes = 2600,
                      .multiply_accumulates = 1280}}};
}

}  // namespace

TEST_CASE("what crosses a cut is the input at 0, and the output of the last block before it elsewhere", "[model]") {
  const auto model = two_blocks();
  CHECK(model.block_count() == 2);
  CHECK(model.shape_at(0) == Shape{2, 3, 8, 8});
  CHECK(model.bytes_at(0) == 1536);
  CHECK(model.shape_at(1) == Shape{2, 4, 4, 4});
  CHECK(model.bytes_at(1) == 512);
  CHECK(model.shape_at(2) == Shape{2, 10});
  CHECK(model.bytes_at(2) == 80);
}

TEST_CASE("a split point outside of the model is caught, not read", "[model]") {
  const auto model = two_blocks();
  CHECK_THROWS_AS(model.bytes_at(3), std::out_of_range);
  CHECK_THROWS_AS(model.shape_at(-1), std::out_of_range);
  CHECK_THROWS_AS(model.parameter_bytes({1, 3}), std::out_of_range);
}

TEST_CASE("the parameters of a range of blocks add up, and those of an empty range are none", "[model]") {
  const auto model = two_blocks();
  CHECK(model.parameter_bytes({0, 2}) == 3064);
  CHECK(model.parameter_bytes({1, 2}) == 2600);
  CHECK(model.parameter_bytes({2, 2}) == 0);
}

TEST_CASE("a description comes back from JSON as it was", "[model]") {
  CHECK(json(two_blocks()).get<ModelDescription>() == two_blocks());
  CHECK(json(BlockRange{3, 7}).get<BlockRange>() == BlockRange{3, 7});
  CHECK(json(BlockRange{3, 7}).dump() == R"({"begin":3,"end":7})");
}
