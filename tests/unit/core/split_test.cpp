#include <paretopipe/core/text.hpp>

#include <string>

#include <support/catch.hpp>

using paretopipe::parse_numbers;
using paretopipe::split_at_commas;
using Items = std::vector<std::string_view>;

TEST_CASE("a text has one item more than commas, empty ones included", "[split]") {
  CHECK(split_at_commas("") == Items{""});
  CHECK(split_at_commas("a") == Items{"a"});
  CHECK(split_at_commas("a,b c,") == Items{"a", "b c", ""});
  CHECK(split_at_commas(",") == Items{"", ""});
}

TEST_CASE("numbers keep their order, and anything else is none", "[split]") {
  CHECK(parse_numbers("4,0,14") == std::vector{4, 0, 14});
  CHECK(parse_numbers("0") == std::vector{0});
  for (const std::string text : {"", ",", "1,", ",1", "-1", "+1", " 1", "1 ", "1.5", "0x1", "2147483648", "1,,2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_numbers(text));
  }
}
