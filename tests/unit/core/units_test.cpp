#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace std::chrono_literals;

TEST_CASE("durations are written with three digits and the unit that fits", "[units]") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(812) == "812 ns");
  CHECK(format_duration(12.3e3) == "12.3 us");
  CHECK(format_duration(1.25e6) == "1.25 ms");
  CHECK(format_duration(2.5e9) == "2.50 s");
  CHECK(format_duration(0.5) == "0.50 ns");
  CHECK(format_duration(-1.25e6) == "-1.25 ms");
}

TEST_CASE("rounding up to the next digit or unit never shows a fourth digit", "[units]") {
  CHECK(format_duration(9.996e6) == "10.0 ms");
  CHECK(format_duration(99.96e6) == "100 ms");
  CHECK(format_duration(999.6e6) == "1.00 s");
  CHECK(format_duration(999'400) == "999 us");
  CHECK(format_count(999'600) == "1.00 M");
  CHECK(format_count(999) == "999");
}

TEST_CASE("bytes have binary prefixes and counts have decimal ones", "[units]") {
  CHECK(format_bytes(512) == "512 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1.00 KiB");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(2.25 * 1024 * 1024) == "2.25 MiB");
  CHECK(format_count(940) == "940");
  CHECK(format_count(3.5e6) == "3.50 M");
  CHECK(format_count(312e6) == "312 M");
}

TEST_CASE("durations are read with or without a blank before the unit", "[units]") {
  CHECK(parse_duration("5ms") == 5ms);
  CHECK(parse_duration("1.5 s") == 1500ms);
  CHECK(parse_duration("250us") == 250us);
  CHECK(parse_duration("800ns") == 800ns);
  CHECK(parse_duration("0s") == 0ns);
  CHECK(parse_duration("0.4ns") == 0ns);
}

TEST_CASE("what is not a duration is a usage error that shows how to write one", "[units]") {
  const auto* text = GENERATE("", "5", "ms", "-5ms", "5 m", "5msec", "5ms ", " 5ms", "nan s", "infs", "1e400s",
                              "1e300s", "10000000000s", "5,5ms", "5MS");
  CAPTURE(text);
  CHECK_THROWS_AS(parse_duration(text), UsageError);
}

TEST_CASE("the longest duration is what 64 bits of nanoseconds hold", "[units]") {
  CHECK(parse_duration("9223372036s") == 9223372036s);
  CHECK_THROWS_WITH(parse_duration("9223372037s"), Catch::Matchers::Matches(".*too large.*"));
}

TEST_CASE("bytes are read with powers of 1000 and of 1024", "[units]") {
  CHECK(parse_bytes("100") == 100);
  CHECK(parse_bytes("100B") == 100);
  CHECK(parse_bytes("2kB") == 2'000);
  CHECK(parse_bytes("2MB") == 2'000'000);
  CHECK(parse_bytes("1GB") == 1'000'000'000);
  CHECK(parse_bytes("2KiB") == 2'048);
  CHECK(parse_bytes("1.5 MiB") == 1'572'864);
  CHECK(parse_bytes("1GiB") == 1'073'741'824);
}

TEST_CASE("what is not a number of bytes is a usage error", "[units]") {
  const auto* text =
      GENERATE("", "B", "-1", "1 kb", "1 K", "1TB", "1mb", "1Mbit", "0x10", "nan", "1e19", "9223372036854775808");
  CAPTURE(text);
  CHECK_THROWS_AS(parse_bytes(text), UsageError);
}
