#include <paretopipe/compute/synthetic/synthetic_model.hpp>
#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::synthetic;
using namespace std::chrono_literals;
using Shape = std::vector<std::int64_t>;

TEST_CASE("a model is read block by block, with units") {
  const auto model = parse("synthetic:5ms/2MB,250us/100kB,1.5 ms/4KiB,3s");
  CHECK(model.spec == "synthetic:5ms/2MB,250us/100kB,1.5 ms/4KiB,3s");
  REQUIRE(model.blocks.size() == 4);
  CHECK(model.blocks[0].duration == 5ms);
  CHECK(model.blocks[1].duration == 250us);
  CHECK(model.blocks[2].duration == 1500us);
  CHECK(model.blocks[3].duration == 3s);
  CHECK(model.blocks[0].output_bytes == 2'000'000);
  CHECK(model.blocks[1].output_bytes == 100'000);
  CHECK(model.blocks[2].output_bytes == 4096);
  CHECK(model.blocks[3].output_bytes == 0);
}

TEST_CASE("one block, no time, the smallest and the largest output are models too") {
  CHECK(parse("synthetic:0ns").blocks.size() == 1);
  CHECK(parse("synthetic:3600s").blocks.front().duration == 1h);
  CHECK(parse("synthetic:0ms/4B,0ms").blocks.front().output_bytes == 4);
  CHECK(parse("synthetic:0ms/4GiB,0ms").blocks.front().output_bytes == std::int64_t{1} << 32);
}

TEST_CASE("a specification that cannot be is refused with the item at fault") {
  const auto [spec, complaint] = GENERATE(table<std::string, std::string>({
      {"", "is not a synthetic model"},
      {"synthetic", "is not a synthetic model"},
      {"synthetic:", "is not a synthetic model"},
      {"Synthetic:5ms", "is not a synthetic model"},
      {"resnet18", "is not a synthetic model"},
      {"synthetic:soon", "\"soon\" is not a duration"},
      {"synthetic:5", "\"5\" has no unit of time"},
      {"synthetic:-5ms", "\"-5ms\" is not a duration"},
      {"synthetic:nanms", "\"nanms\" is not a duration"},
      {"synthetic:5ms,", "\"5ms\" lacks its output bytes"},
      {"synthetic:5ms/4kB,", "\"\" is not a duration"},
      {"synthetic:,5ms", "\"\" is not a duration"},
      {"synthetic:5ms,3ms", "\"5ms\" lacks its output bytes"},
      {"synthetic:5ms/4kB", "\"5ms/4kB\" is the last block"},
      {"synthetic:5ms/4kB,3ms/4kB", "\"3ms/4kB\" is the last block"},
      {"synthetic:5ms/,3ms", "\"\" is not a number of bytes"},
      {"synthetic:5ms/0B,3ms", "\"5ms/0B\": output bytes must be a positive multiple of 4"},
      {"synthetic:5ms/6B,3ms", "\"5ms/6B\": output bytes must be a positive multiple of 4"},
      {"synthetic:5ms/4294967300B,3ms", "at most 4.00 GiB"},
      {"synthetic:5ms/99999999999GB,3ms", "too large"},
      {"synthetic:3600.1s", "at most an hour"},
      {"synthetic:1e300s", "too large"},
      {"synthetic:5ms/4kB/4kB,3ms", "unknown unit of bytes"},
      {"synthetic:5ms;3ms", "has no unit of time"},
  }));
  CAPTURE(spec);
  const auto message = support::message_of<UsageError>([&model = spec] { parse(model); });
  CAPTURE(message);
  CHECK(support::contains(message, complaint));
}

TEST_CASE("a description gives what crosses every cut") {
  const auto description = describe(parse("synthetic:5ms/2MB,250us/4B,3ms"), 8, 100);
  CHECK(description.model == "synthetic:5ms/2MB,250us/4B,3ms");
  CHECK(description.batch == 8);
  CHECK(description.block_count() == 3);
  CHECK(description.shape_at(0) == Shape{8, 3, 32, 32});
  CHECK(description.shape_at(1) == Shape{500'000});
  CHECK(description.shape_at(2) == Shape{1});
  CHECK(description.shape_at(3) == Shape{8, 100});
  CHECK(description.bytes_at(0) == 8 * 3 * 32 * 32 * 4);
  CHECK(description.bytes_at(1) == 2'000'000);
  CHECK(description.bytes_at(2) == 4);
  CHECK(description.bytes_at(3) == 8 * 100 * 4);
  CHECK(description.parameter_bytes({0, 3}) == 0);
}

TEST_CASE("blocks have names of their own") {
  const auto description = describe(parse("synthetic:0ms/4B,0ms/4B,0ms"), 1, 10);
  CHECK(description.blocks[0].name == "block.0");
  CHECK(description.blocks[2].name == "block.2");
}
