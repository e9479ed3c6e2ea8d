#include <paretopipe/core/text.hpp>

#include <support/catch.hpp>

using namespace paretopipe;
using Numbers = std::vector<int>;

TEST_CASE("numbers and ranges are read in any order, ascending and unique", "[number_list]") {
  CHECK(parse_number_list("3", 9) == Numbers{3});
  CHECK(parse_number_list("0-3,8", 9) == Numbers{0, 1, 2, 3, 8});
  CHECK(parse_number_list("8,0-3,2,2-4", 9) == Numbers{0, 1, 2, 3, 4, 8});
  CHECK(parse_number_list("5-5", 9) == Numbers{5});
  CHECK(parse_number_list("007", 9) == Numbers{7});
  CHECK(parse_number_list("9", 9) == Numbers{9});
}

TEST_CASE("what is not a list of numbers is refused whole", "[number_list]") {
  const auto* text =
      GENERATE("", " ", ",", "-", "1,", ",1", "1,,2", "1-", "-1", "--1", "1--2", "1-2-3", "3-1", "1 ", " 1", "1, 2",
               "+1", "1.5", "1e2", "0x1", "a", "1a", "10", "0-10", "99999999999999999999", "0-4294967296");
  CAPTURE(text);
  CHECK_FALSE(parse_number_list(text, 9));
}

TEST_CASE("a number list is written in its shortest form", "[number_list]") {
  CHECK(format_number_list({}).empty());
  CHECK(format_number_list({0}) == "0");
  CHECK(format_number_list({0, 1}) == "0-1");
  CHECK(format_number_list({0, 2, 3, 4, 7}) == "0,2-4,7");
}

TEST_CASE("writing and reading a number list gives it back", "[number_list]") {
  // Every subset of 0 … 9.
  for (unsigned subset = 1; subset < 1024; ++subset) {
    Numbers numbers;
    for (int number = 0; number < 10; ++number) {
      if ((subset >> number) & 1u) numbers.push_back(number);
    }
    if (parse_number_list(format_number_list(numbers), 9) != numbers) FAIL_CHECK(format_number_list(numbers));
  }
}
