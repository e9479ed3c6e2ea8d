#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using nlohmann::json;

namespace {

SplitSelection points(std::vector<int> values) {
  return {.all = false, .points = std::move(values)};
}

}  // namespace

TEST_CASE("split points are read as all, one, a list, a range or a mixture", "[splits]") {
  CHECK(parse_splits("all") == SplitSelection{});
  CHECK(parse_splits("3") == points({3}));
  CHECK(parse_splits("1,4,7") == points({1, 4, 7}));
  CHECK(parse_splits("2-5") == points({2, 3, 4, 5}));
  CHECK(parse_splits("7,2-5,0,3") == points({0, 2, 3, 4, 5, 7}));
  CHECK(parse_splits("9999") == points({9999}));
}

TEST_CASE("what is not a choice of split points is a usage error", "[splits]") {
  const auto* text = GENERATE("", "All", "all,1", "none", "-1", "5-2", "1,", "1 2", "10000", "0-2000000000", "1.5");
  CAPTURE(text);
  CHECK_THROWS_AS(parse_splits(text), UsageError);
}

TEST_CASE("a choice of split points comes back from its text as it was", "[splits]") {
  for (const auto& selection : {SplitSelection{}, points({0}), points({0, 1, 2}), points({0, 2, 3, 4, 9})}) {
    CHECK(parse_splits(to_string(selection)) == selection);
    CHECK(json(selection).get<SplitSelection>() == selection);
  }
  CHECK(to_string(points({0, 2, 3, 4, 9})) == "0,2-4,9");
}

TEST_CASE("in JSON split points are a string or a list of whole numbers, in any order", "[splits]") {
  CHECK(json("all").get<SplitSelection>() == SplitSelection{});
  CHECK(json("0,2-3").get<SplitSelection>() == points({0, 2, 3}));
  CHECK(json::parse("[7, 0, 7, 3]").get<SplitSelection>() == points({0, 3, 7}));
  CHECK(json(std::vector<int>{2, 1}).get<SplitSelection>() == points({1, 2}));
}

TEST_CASE("any other JSON is no choice of split points", "[splits]") {
  const auto* text = GENERATE("null", "3", "true", "{}", "[]", "[1.5]", "[true]", "[\"1\"]", "[-1]", "[10000]", "[[1]]",
                              "[4294967296]", "[18446744073709551615]", "\"\"");
  CAPTURE(text);
  CHECK_THROWS_AS(json::parse(text).get<SplitSelection>(), UsageError);
}
