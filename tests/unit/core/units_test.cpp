#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

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
  const auto message = support::message_of<UsageError>([&] { parse_duration(text); });
  CHECK((support::contains(message, "write it like 5ms") || support::contains(message, "is too large")));
}

TEST_CASE("the longest duration is what 64 bits of nanoseconds hold", "[units]") {
  CHECK(parse_duration("9223372036s") == 9223372036s);
  CHECK_THROWS_WITH(parse_duration("9223372037s"), support::containing("too large"));
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

TEST_CASE("data is read in bytes or in bits, and never without a unit", "[units]") {
  CHECK(parse_bytes_or_bits("4096 B") == 4'096);
  CHECK(parse_bytes_or_bits("4 kB") == 4'000);
  CHECK(parse_bytes_or_bits("4KiB") == 4'096);
  CHECK(parse_bytes_or_bits("32 kbit") == 4'000);
  CHECK(parse_bytes_or_bits("32 Kibit") == 4'096);
  CHECK(parse_bytes_or_bits("1 Mbit") == 125'000);
  CHECK(parse_bytes_or_bits("8bit") == 1);
  const auto* text = GENERATE("", "4096", "kbit", "-1 kbit", "32 kb", "32 Kbit", "32 kbit/s", "nan B", "1e30 B");
  CAPTURE(text);
  CHECK_THROWS_AS(parse_bytes_or_bits(text), UsageError);
}

TEST_CASE("rates are bits per second, with or without the blank and the second", "[units]") {
  CHECK(parse_rate("5 Mbit/s") == 5'000'000);
  CHECK(parse_rate("5Mbit") == 5'000'000);
  CHECK(parse_rate("5mbit") == 5'000'000);
  CHECK(parse_rate("1.5 Gbit/s") == 1'500'000'000);
  CHECK(parse_rate("500 kbit/s") == 500'000);
  CHECK(parse_rate("800 bit/s") == 800);
  const auto* text =
      GENERATE("", "5", "Mbit/s", "-5 Mbit/s", "5 Mbps", "5 MB/s", "5 Mibit/s", "5 Mbit / s", "1e300 bit");
  CAPTURE(text);
  CHECK_THROWS_AS(parse_rate(text), UsageError);
}

TEST_CASE("a rate is written so that it reads back as it was", "[units]") {
  CHECK(format_rate(5'000'000) == "5 Mbit/s");
  CHECK(format_rate(1'500'000'000) == "1.5 Gbit/s");
  CHECK(format_rate(999) == "999 bit/s");
  CHECK(format_rate(0) == "0 bit/s");
  for (const std::int64_t rate : {1LL, 1'001LL, 123'456'789LL, 98'765'432'101LL}) {
    CHECK(parse_rate(format_rate(rate)) == rate);
  }
}

TEST_CASE("probabilities are read as percentages or plain numbers", "[units]") {
  CHECK(parse_probability("1 %") == 0.01);
  CHECK(parse_probability("7%") == 0.07);
  CHECK(parse_probability("0.25") == 0.25);
  CHECK(parse_probability("100 %") == 1);
  CHECK(parse_probability("0") == 0);
  const auto* text = GENERATE("", "2", "101 %", "-1 %", "1 percent", "1%%", "nan");
  CAPTURE(text);
  CHECK_THROWS_AS(parse_probability(text), UsageError);
}

TEST_CASE("counts are read with and without an SI suffix, and nothing else", "[units]") {
  CHECK(parse_count("940") == 940);
  CHECK(parse_count("0.25") == 0.25);
  CHECK(parse_count("3.5k") == 3500);
  CHECK(parse_count("1.5 M") == 1.5e6);
  for (const auto* text : {"", "k", "-1", "nan", "inf", "1e999", "5 %", "5 ms", "5 5", "1,5"}) {
    CHECK_THROWS_AS(parse_count(text), UsageError);
  }
}

TEST_CASE("a product is rounded before it is added to, so that numbers do not depend on the architecture") {
  const volatile double factor = 1 + 0x1p-30, product = 1 + 0x1p-29;  // of which the exact one has 2^-60 more
  CHECK(factor * factor - product == 0);
}
