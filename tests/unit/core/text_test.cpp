#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>

#include <cstdint>
#include <string>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using Numbers = std::vector<int>;
using Items = std::vector<std::string_view>;

TEST_CASE("a number is the whole text, or it is none", "[number]") {
  CHECK(parse_number<std::int64_t>("2300000") == 2300000);
  CHECK(parse_number<int>("-1") == -1);
  CHECK(parse_number<double>("1e-3") == 0.001);
  CHECK(parse_number<unsigned>("5000f", 16) == 0x5000f);
  for (const auto* text : {"", "12 ", " 12", "+1", "1.5", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number<std::int64_t>(text));
  }
  CHECK_FALSE(parse_number<std::uint16_t>("65536"));
  CHECK_FALSE(parse_number<std::uint16_t>("-1"));
}

TEST_CASE("a word and its value are found by each other", "[word]") {
  enum class Colour { red, green, none };
  constexpr Word<Colour> kColours[]{{Colour::red, "red"}, {Colour::green, "green"}};
  CHECK(std::string(word_of(kColours, Colour::green)) == "green");
  CHECK(std::string(word_of(kColours, Colour::none)).empty());
  CHECK(find_word(kColours, "red") == Colour::red);
  CHECK_FALSE(find_word(kColours, "Red"));
  CHECK(parse_word("colour", kColours, "green") == Colour::green);
  CHECK(support::message_of<UsageError>([&] { parse_word("colour", kColours, "gren"); }) ==
        "colour is \"gren\"; it must be red or green; did you mean \"green\"?");
}

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

TEST_CASE("a text has one item more than commas, empty ones included", "[split]") {
  CHECK(split("") == Items{""});
  CHECK(split("a") == Items{"a"});
  CHECK(split("a,b c,") == Items{"a", "b c", ""});
  CHECK(split(",") == Items{"", ""});
}

TEST_CASE("numbers keep their order, and anything else is none", "[split]") {
  CHECK(parse_numbers("4,0,14") == std::vector{4, 0, 14});
  CHECK(parse_numbers("0") == std::vector{0});
  for (const std::string text : {"", ",", "1,", ",1", "-1", "+1", " 1", "1 ", "1.5", "0x1", "2147483648", "1,,2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_numbers(text));
  }
}

namespace {
const std::vector<std::string> kKeys{"batch", "batches", "warmup", "depth", "threads_per_stage"};
}

TEST_CASE("a typing mistake finds the word that was meant", "[suggest]") {
  CHECK(closest_word("bacth", kKeys) == "batch");
  CHECK(closest_word("batchs", kKeys) == "batch");
  CHECK(closest_word("batchess", kKeys) == "batches");
  CHECK(closest_word("warm_up", kKeys) == "warmup");
  CHECK(closest_word("dept", kKeys) == "depth");
  CHECK(closest_word("thread_per_stage", kKeys) == "threads_per_stage");
}

TEST_CASE("a word that is like no other gets no suggestion", "[suggest]") {
  const auto* word = GENERATE("", "x", "latency", "threads", "de", "\xff\xfe\xfd");
  CAPTURE(word);
  CHECK_FALSE(closest_word(word, kKeys));
  CHECK(did_you_mean(word, kKeys).empty());
}

TEST_CASE("without candidates there is no suggestion", "[suggest]") {
  CHECK_FALSE(closest_word("batch", {}));
}

TEST_CASE("the suggestion is a question to append to an error", "[suggest]") {
  CHECK(did_you_mean("dephts", kKeys) == "; did you mean \"depth\"?");
}

TEST_CASE("a word of a shell has quotes where it needs them") {
  CHECK(word_of_shell("results/a-b_1.json") == "results/a-b_1.json");
  CHECK(word_of_shell("p99 < 30ms") == "'p99 < 30ms'");
  CHECK(word_of_shell("it's") == "'it'\\''s'");
  CHECK(word_of_shell("") == "''");
  CHECK(word_of_shell("\xc3\xb6") == "'\xc3\xb6'");
}

TEST_CASE("UTF-8 is told from other bytes") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("net.pt"));
  CHECK(is_utf8("r\xC3\xA9seau \xF0\x9F\x8C\x8D"));
  CHECK_FALSE(is_utf8("r\xE9seau"));     // Latin-1
  CHECK_FALSE(is_utf8("\xC3"));          // the beginning of a character
  CHECK_FALSE(is_utf8("\xC0\xAF"));      // a slash, longer than need be
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));  // half of a pair of UTF-16
}
