#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include <fmt/format.h>

#include "support/message_of.hpp"
#include "there_and_back.hpp"

using namespace paretopipe;
using namespace paretopipe::codec;
using namespace paretopipe::codec::testing;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

std::vector<std::string> all_codecs() {
  std::vector<std::string> names;
  for (const auto& row : catalogue()) {
    if (row.of_images) continue;
    names.emplace_back(row.name);
    if (row.lossy) names.insert(names.end(), {fmt::format("{}+zstd", row.name), fmt::format("{}+lz4", row.name)});
  }
  return names;
}

std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (auto& value : values) value = normal(random);
  return values;
}

/// Half of what leaves a ReLU is 0.
std::vector<float> rectified(std::size_t count, unsigned seed) {
  auto values = drawn(count, seed);
  for (auto& value : values) value = std::max(value, 0.0F);
  return values;
}

double span_of(const std::vector<float>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return double{*high} - double{*low};
}

}  // namespace

TEST_CASE("every codec is parsed from the name that it has, and has a number of its own") {
  std::vector<int> numbers;
  for (const auto& name : all_codecs()) {
    CAPTURE(name);
    const auto codec = parse(name);
    CHECK(to_string(codec) == name);
    CHECK(codec.encodes() == (name != "none"));
    CHECK(std::find(numbers.begin(), numbers.end(), codec.number()) == numbers.end());
    numbers.push_back(codec.number());
  }
  CHECK(parse("none").number() == 0);
  CHECK(parse("zstd").number() == 48);
  CHECK(parse("sort8+lz4").number() == 73);
}

TEST_CASE("what is no codec is refused with the names of those that are") {
  for (const char* name : {"", "sort7", "zstd+channel8", "zstd+lz4", "channel8+", "channel8+none", "none+zstd",
                           "channel8+zstd+lz4", "Sort8", " sort8"}) {
    CAPTURE(name);
    const auto text = message_of<UsageError>([&] { parse(name); });
    CHECK(contains(text, fmt::format("\"{}\" is no codec; there are none, float16", name)));
    CHECK(contains(text, "combinations such as channel8+zstd"));
  }
}

TEST_CASE("a parameter follows a codec's name unless it is the usual one, and must be within its range") {
  for (const char* name : {"jpeg:75", "zstd:9", "channel8+zstd:19", "uint8+zstd:3"})
    CHECK(to_string(parse(name)) == name);
  CHECK(to_string(parse("jpeg:90")) == "jpeg");
  CHECK(to_string(parse("sort8+zstd:1")) == "sort8+zstd");
  CHECK(parse("zstd:9").number() == parse("zstd").number());  // a decoder need not know the level
  CHECK_FALSE(parse("zstd:9") == parse("zstd"));
  for (const char* name : {"jpeg:0", "jpeg:101", "jpeg:", "jpeg:7x", "jpeg: 7", "jpeg:99999999999", "jpeg:-1"}) {
    CAPTURE(name);
    CHECK(contains(message_of<UsageError>([&] { parse(name); }), "the quality of jpeg is 1 to 100"));
  }
  CHECK(contains(message_of<UsageError>([] { parse("channel8+zstd:20"); }), "the level of zstd is 1 to 19"));
  CHECK(contains(message_of<UsageError>([] { parse("sort8:3"); }), "sort8 has no parameter"));
  CHECK(contains(message_of<UsageError>([] { parse("lz4:3"); }), "lz4 has no parameter"));
  CHECK(contains(message_of<UsageError>([] { parse("jpeg+zstd"); }), "compressed already"));
}

TEST_CASE("a higher level makes fewer bytes, which the same decoder reads") {
  std::vector<float> values(20'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 977);
  const auto layout = layout_of(values.size());
  const auto bytes = std::as_bytes(std::span(values));
  const auto thorough = encoded(parse("zstd:19"), layout, bytes);
  CHECK(thorough.size() < encoded(parse("zstd"), layout, bytes).size());
  CHECK(there_and_back("zstd:19", layout, values) == values);
}

TEST_CASE("the bytes of a body are those that the codec's bits say, beside its levels") {
  const auto layout = layout_of(8 * 30, 8, 30);
  const auto bytes = [&](const char* name) { return most_bytes(parse(name), layout); };
  CHECK(bytes("none") == 960);
  CHECK(bytes("float16") == 480);
  CHECK(bytes("bfloat16") == 480);
  CHECK(bytes("uniform8") == 240 + 8);
  CHECK(bytes("channel8") == 240 + 8 * 8);
  CHECK(bytes("channel4") == 120 + 8 * 8);
  CHECK(bytes("sort16") == 480 + 16 * 8);
  CHECK(bytes("sort12") == 360 + 8 * 8);
  CHECK(bytes("sort12-wide") == 480 + 8 * 8);
  CHECK(bytes("sort8") == 240 + 4 * 8);
  CHECK(bytes("sort4") == 120 + 2 * 8);
  CHECK(bytes("sort4-wide") == 240 + 2 * 8);
  CHECK(most_bytes(parse("channel4"), layout_of(3)) == 2 + 8);
  CHECK(most_bytes(parse("sort12"), layout_of(3)) == 5 + 64);
}

TEST_CASE("codecs without loss give back every bit, also of what is no number") {
  auto values = drawn(1001, 1);
  values[17] = std::numeric_limits<float>::quiet_NaN();
  values[18] = -std::numeric_limits<float>::infinity();
  for (const char* name : {"none", "zstd", "lz4"}) {
    CAPTURE(name);
    const auto back = there_and_back(name, layout_of(values.size()), values);
    CHECK(std::memcmp(back.data(), values.data(), values.size() * sizeof(float)) == 0);
  }
  const std::vector<float> zeros(10'000);
  CHECK(encoded(parse("zstd"), layout_of(zeros.size()), std::as_bytes(std::span(zeros))).size() < 100);
  CHECK(encoded(parse("lz4"), layout_of(zeros.size()), std::as_bytes(std::span(zeros))).size() < 400);
}

TEST_CASE("compressors shuffle where that pays: lz4 does not among zeros, and every body says how it is") {
  auto values = drawn(20'000, 3);
  const auto layout = layout_of(values.size());
  const auto order_of = [&](const char* codec) {
    return encoded(parse(codec), layout, std::as_bytes(std::span(values))).front();
  };
  CHECK(order_of("lz4") == std::byte{1});
  CHECK(order_of("zstd") == std::byte{1});
  CHECK(order_of("uniform8+lz4") == std::byte{0});  // elements of one byte
  for (auto& value : values) value = std::max(value, 0.0F);
  CHECK(order_of("lz4") == std::byte{0});
  CHECK(order_of("zstd") == std::byte{1});
  auto body = encoded(parse("zstd"), layout, std::as_bytes(std::span(values)));
  body.front() = std::byte{2};
  CHECK_THROWS_AS(decoded<float>(parse("zstd"), layout, body), Damaged);
}

TEST_CASE("integers pass every codec unchanged") {
  std::vector<std::int64_t> tokens(101);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int64_t>(i * 7919) - 50'000;
  for (const auto& name : all_codecs()) {
    CAPTURE(name);
    CHECK(there_and_back(name, {Element::int64, tokens.size(), 101, 1}, tokens) == tokens);
  }
}

TEST_CASE("every codec keeps values of any length, layout and distribution within its error") {
  struct Bound {
    const char* name;
    double of_span;  ///< largest error, as a share of the span of all values
  };
  for (const auto& [name, of_span] :
       {Bound{"float16", 1.0 / 1024}, Bound{"bfloat16", 1.0 / 128}, Bound{"uniform8", 0.501 / 255},
        Bound{"channel8", 0.501 / 255}, Bound{"channel4", 0.501 / 15}, Bound{"sort16", 0.501 / 4095},
        Bound{"sort12", 0.501 / 511}, Bound{"sort12-wide", 0.501 / 511}, Bound{"sort8", 0.501 / 63},
        Bound{"sort4", 0.501 / 7}, Bound{"sort4-wide", 0.501 / 7}, Bound{"channel4+lz4", 0.501 / 15},
        Bound{"sort12+zstd", 0.501 / 511}}) {
    for (const auto& layout :
         {layout_of(1), layout_of(2), layout_of(3), layout_of(5), layout_of(17), layout_of(4095), layout_of(4097),
          layout_of(30'001), layout_of(3 * 7 * 11, 7, 11), layout_of(3 * 7 * 11, 7, 1), layout_of(64 * 1000, 64, 1000),
          layout_of(64 * 1000, 64, 1), layout_of(768, 768, 1)}) {
      for (const auto& values : {drawn(layout.values, 2), rectified(layout.values, 3)}) {
        CAPTURE(name, layout.values, layout.channels, layout.stride);
        const auto span = std::max(span_of(values), std::abs(double{values.front()}));
        CHECK(largest_error(there_and_back(name, layout, values), values) <= of_span * span);
      }
    }
  }
}

TEST_CASE("values that are all equal, and the zeros of a ReLU, come back as they were") {
  const auto name = GENERATE(as<std::string>{}, "float16", "bfloat16", "uniform8", "channel8", "channel4", "sort16",
                             "sort12", "sort12-wide", "sort8", "sort4", "sort4-wide");
  CAPTURE(name);
  for (const std::size_t count : {1UL, 2UL, 100UL, 50'000UL}) {
    const std::vector<float> constant(count, 1.5F);
    CHECK(there_and_back(name, layout_of(count), constant) == constant);
  }
  if (name == "uniform8" || name.starts_with("channel") || name.starts_with("sort")) {
    const auto values = rectified(50'000, 4);
    const auto back = there_and_back(name, layout_of(values.size()), values);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < values.size(); ++i) changed += values[i] == 0 && back[i] != 0;
    CHECK(changed == 0);
  }
}

TEST_CASE("each channel has levels of its own, in either order of memory") {
  std::vector<float> rows, planes;
  for (int i = 0; i < 100; ++i)
    rows.insert(rows.end(), {0.01F * static_cast<float>(i), 1000.0F * static_cast<float>(i)});
  for (int channel = 0; channel < 2; ++channel) {
    for (std::size_t i = 0; i < 100; ++i) planes.push_back(rows[2 * i + static_cast<std::size_t>(channel)]);
  }
  const auto of_rows = there_and_back("channel8", layout_of(200, 2, 1), rows);
  const auto of_planes = there_and_back("channel8", layout_of(200, 2, 100), planes);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(std::abs(of_rows[2 * i] - rows[2 * i]) <= 0.501 * 0.99 / 255);
    CHECK(of_rows[2 * i] == of_planes[i]);
    CHECK(of_rows[2 * i + 1] == of_planes[100 + i]);
  }
}

TEST_CASE("a tensor of one channel has the body of uniform8, whatever the stride of its layout is") {
  const auto values = drawn(12'003, 9);
  const auto bytes = std::as_bytes(std::span(values));
  const auto consecutive = layout_of(values.size(), 1, values.size());
  for (const std::size_t stride : {std::size_t{1}, std::size_t{3}, values.size()}) {
    CAPTURE(stride);
    const auto layout = layout_of(values.size(), 1, stride);
    CHECK(encoded(parse("channel8"), layout, bytes) == encoded(parse("uniform8"), consecutive, bytes));
    CHECK(encoded(parse("channel4"), layout, bytes) == encoded(parse("channel4"), consecutive, bytes));
    for (const char* name : {"channel8", "channel4"}) {
      CHECK(there_and_back(name, layout, values) == there_and_back(name, consecutive, values));
    }
  }
}

TEST_CASE("activations of bfloat16 are quantised, too, and those that are whole levels come back as they were") {
  std::vector<std::uint16_t> values;
  for (int i = 0; i < 256; ++i) {
    values.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(i)) >> 16));
  }
  for (const char* name : {"none", "float16", "bfloat16", "uniform8", "channel8", "sort16", "zstd", "uniform8+lz4"}) {
    CAPTURE(name);
    CHECK(there_and_back(name, {Element::bfloat16, 256, 1, 256}, values) == values);
  }
}

TEST_CASE("float16 rounds to the nearest even number, with the small numbers that have fewer digits") {
  const std::vector<std::pair<float, float>> cases{
      {1.0F, 1.0F},           {-2.0F, -2.0F},       {1.0F + 0x1p-11F, 1.0F}, {1.0F + 0x1.8p-10F, 1.0F + 0x1p-9F},
      {65504.0F, 65504.0F},   {65519.0F, 65504.0F}, {0x1p-14F, 0x1p-14F},    {0x1p-24F, 0x1p-24F},
      {0x1.8p-24F, 0x1p-23F}, {0x1p-25F, 0.0F},     {0x1p-100F, 0.0F},       {0.0F, 0.0F}};
  for (const auto& [value, rounded] : cases) {
    CAPTURE(value);
    CHECK(there_and_back("float16", layout_of(1), std::vector<float>{value}).front() == rounded);
  }
  CHECK(there_and_back("bfloat16", layout_of(1), std::vector<float>{1.00390625F}).front() == 1.0F);
  CHECK(there_and_back("bfloat16", layout_of(1), std::vector<float>{1.01171875F}).front() == 1.015625F);
}

TEST_CASE("NaN, infinity, and what is too large are refused with their place") {
  auto values = drawn(100, 5);
  std::vector<std::byte> body(4096);
  Scratch scratch;
  const auto refusal = [&](const std::string& name) {
    return message_of<CannotEncode>(
        [&] { encode(parse(name), layout_of(100, 10, 10), std::as_bytes(std::span(values)), body, scratch); });
  };
  for (const auto& row : catalogue()) {
    if (!row.lossy || row.of_images) continue;
    const std::string name(row.name);
    CAPTURE(name);
    values[37] = std::numeric_limits<float>::quiet_NaN();
    CHECK(contains(refusal(name), "value 37 of 100 is nan"));
    values[37] = -std::numeric_limits<float>::infinity();
    CHECK(contains(refusal(name), "value 37 of 100 is -inf"));
    values[37] = 0;
  }
  values[42] = 65520;
  values[10] = 65519;  // rounds to 65504, which fits
  values[11] = -65510;
  CHECK(contains(refusal("float16"), "value 42 of 100 is 65520, which is too large"));
  values[42] = std::numeric_limits<float>::max();
  values[12] = std::nextafter(0x1.ffp127F, 0.0F);  // rounds to the largest of bfloat16
  CHECK(contains(refusal("bfloat16"), "value 42 of 100 is"));
  values[43] = std::numeric_limits<float>::lowest();
  CHECK(contains(refusal("uniform8"), "span more than a float32 can say"));
}

TEST_CASE("one value of a large tensor that is no number is found wherever it is, by codecs that search a sample") {
  constexpr std::size_t kCount = 20'003;
  constexpr auto kInfinity = std::numeric_limits<float>::infinity();
  auto values = drawn(kCount, 5);
  std::vector<std::byte> body(most_bytes(parse("sort16"), layout_of(kCount)));
  Scratch scratch;
  for (std::size_t place = 0; place < kCount; place += place + 70 < kCount ? 67 : 1) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
      for (const char* name : {"sort16", "sort8", "sort4"}) {
        CAPTURE(place, bad, name);
        const auto good = std::exchange(values[place], bad);
        CHECK(contains(message_of<CannotEncode>([&] {
                         encode(parse(name), layout_of(kCount), std::as_bytes(std::span(values)), body, scratch);
                       }),
                       fmt::format("value {} of {} is {}", place, kCount, bad)));
        values[place] = good;
      }
    }
  }
}

TEST_CASE("a body that no encoder made is refused, whatever it is") {
  const auto values = drawn(1000, 6);
  std::vector<float> back(values.size());
  Scratch scratch;
  std::mt19937 random(7);
  for (const auto& name : all_codecs()) {
    CAPTURE(name);
    const auto codec = parse(name);
    const auto layout = layout_of(1000, 10, 100);
    const auto body = encoded(codec, layout, std::as_bytes(std::span(values)));
    const auto refused = [&](std::span<const std::byte> damaged) {
      try {
        decode(codec, layout, damaged, std::as_writable_bytes(std::span(back)), scratch);
      } catch (const Damaged&) {
        return true;
      }
      return false;
    };
    CHECK_FALSE(refused(body));
    CHECK(refused({}));
    CHECK(refused(std::span(body).first(body.size() - 1)));
    auto longer = body;
    longer.push_back(std::byte{1});
    CHECK(refused(longer));
    for (int round = 0; round < 100; ++round) {  // accepted or not, nothing else happens
      auto damaged = body;
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
      refused(damaged);
    }
  }
}

TEST_CASE("a body of more bytes than liblz4 can count is damaged, and no mistake of the user's") {
  constexpr std::size_t kBytes = std::size_t{1} << 31;  // none of which takes memory until it is read
  auto* memory = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const std::span body(static_cast<const std::byte*>(memory), kBytes);
  for (const auto& hostile : {body, body.first(kBytes - 1), body.first(0x7E000001)}) {
    CAPTURE(hostile.size());
    CHECK_THROWS_AS(decoded<float>(parse("lz4"), layout_of(10), hostile), Damaged);
  }
  ::munmap(memory, kBytes);
}

TEST_CASE("one scratch serves tensors and codecs of all kinds in turn") {
  Scratch scratch;
  std::vector<std::byte> body(1 << 20);
  for (int round = 0; round < 3; ++round) {
    for (const auto& name : all_codecs()) {
      const auto codec = parse(name);
      const auto values = drawn(100 + 1000 * static_cast<std::size_t>(round), 8);
      std::vector<float> back(values.size());
      const auto layout = layout_of(values.size());
      const auto size = encode(codec, layout, std::as_bytes(std::span(values)), body, scratch);
      decode(codec, layout, std::span(body).first(size), std::as_writable_bytes(std::span(back)), scratch);
      CHECK(back == there_and_back(name, layout, values));
    }
  }
}
