// What is beside the codes: that levels are those of a full sort, whatever the values are, and that a peer cannot make
// numbers of them that no encoder makes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/message_of.hpp"
#include "there_and_back.hpp"

using namespace paretopipe::codec;
using namespace paretopipe::codec::testing;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

struct Tensor {
  std::string name;
  std::vector<float> values;
};

/// Distributions in which a sample says little of the ranks: ties, few values, order, and outliers.
std::vector<Tensor> awkward_tensors(std::size_t count) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::vector<Tensor> tensors{{"normal", {}},     {"after a ReLU", {}},      {"few values", {}},
                              {"ascending", {}},  {"descending", {}},        {"outliers", {}},
                              {"two halves", {}}, {"all equal but one", {}}, {"wide and tiny", {}}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = normal(random);
    const auto place = static_cast<float>(i);
    const float made[] = {value,
                          std::max(value, 0.0F),
                          std::floor(value),
                          place,
                          -place,
                          i % 1000 == 0 ? value * 1e6F : value,
                          i % 2 == 0 ? -1.0F : 1.0F,
                          i == count / 2 ? 1.0F : 0.0F,
                          std::ldexp(value, static_cast<int>(i % 200) - 120)};
    for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) tensors[tensor].values.push_back(made[tensor]);
  }
  return tensors;
}

/// The pairs (minimum, step) of groups of equal count, found by a full sort.
std::vector<float> levels_by_sorting(std::vector<float> values, std::size_t groups, int levels) {
  std::sort(values.begin(), values.end());
  std::vector<float> found;
  for (std::size_t group = 0; group < groups; ++group) {
    const auto begin = group * values.size() / groups, end = (group + 1) * values.size() / groups;
    const float step = (values[end - 1] - values[begin]) / static_cast<float>(levels - 1);
    found.insert(found.end(), {values[begin], std::isfinite(1 / step) ? step : 0});
  }
  return found;
}

float widened(std::uint16_t bfloat16) {
  return std::bit_cast<float>(std::uint32_t{bfloat16} << 16);
}

}  // namespace

TEST_CASE("the levels of a sort quantiser are those of a full sort, in tensors of any size and distribution") {
  struct Kind {
    const char* name;
    std::size_t groups;
    int levels;
  };
  for (const std::size_t count : {20UL, 4096UL, 4097UL, 250'007UL}) {
    for (const auto& tensor : awkward_tensors(count)) {
      for (const auto& [name, groups, levels] :
           {Kind{"sort16", 16, 4096}, Kind{"sort12", 8, 512}, Kind{"sort8", 4, 64}, Kind{"sort4", 2, 8}}) {
        CAPTURE(count, tensor.name, name);
        const Layout layout{Element::float32, count, 1, count};
        const auto body = encoded(parse(name), layout, std::as_bytes(std::span(tensor.values)));
        CHECK(floats_at_the_front(body, 2 * groups) == levels_by_sorting(tensor.values, groups, levels));
      }
    }
  }
}

namespace {

/// The code of the definition, given the minimum and step of each group.
int code_of(float value, const std::vector<float>& levels_of, int levels) {
  std::size_t group = 0;
  while (2 * group + 2 < levels_of.size() && value >= levels_of[2 * group + 2]) ++group;
  const float min = levels_of[2 * group], step = levels_of[2 * group + 1];
  const auto within = static_cast<int>(std::nearbyint((value - min) / (step > 0 ? step : 1)));
  return static_cast<int>(group) * levels + std::min(within, levels - 1);
}

template <class Code>
std::size_t wrong_codes(const std::vector<std::byte>& body, const std::vector<float>& values, std::size_t groups,
                        int levels) {
  const auto levels_of = floats_at_the_front(body, 2 * groups);
  std::vector<Code> codes(values.size());
  std::memcpy(codes.data(), body.data() + 2 * groups * sizeof(float), codes.size() * sizeof(Code));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += codes[i] == code_of(values[i], levels_of, levels) ? 0 : 1;
  return wrong;
}

}  // namespace

TEST_CASE("the codes of a sort quantiser are those of its definition, whichever instructions make them") {
  for (const std::size_t count : {1UL, 31UL, 32UL, 33UL, 10'001UL}) {
    for (const auto& tensor : awkward_tensors(count)) {
      CAPTURE(count, tensor.name);
      const Layout layout{Element::float32, count, 1, count};
      const auto bytes = std::as_bytes(std::span(tensor.values));
      CHECK(wrong_codes<std::uint16_t>(encoded(parse("sort16"), layout, bytes), tensor.values, 16, 4096) == 0);
      CHECK(wrong_codes<std::uint16_t>(encoded(parse("sort12-wide"), layout, bytes), tensor.values, 8, 512) == 0);
      CHECK(wrong_codes<std::uint8_t>(encoded(parse("sort8"), layout, bytes), tensor.values, 4, 64) == 0);
      CHECK(wrong_codes<std::uint8_t>(encoded(parse("sort4-wide"), layout, bytes), tensor.values, 2, 8) == 0);
    }
  }
}

TEST_CASE("no value of an awkward distribution is further off than half the step of the widest group") {
  for (const auto& tensor : awkward_tensors(10'001)) {
    for (const auto& [name, groups] : {std::pair{"sort16", 16UL}, {"sort12", 8UL}, {"sort8", 4UL}, {"sort4", 2UL}}) {
      CAPTURE(tensor.name, name);
      const Layout layout{Element::float32, tensor.values.size(), 1, tensor.values.size()};
      const auto body = encoded(parse(name), layout, std::as_bytes(std::span(tensor.values)));
      const auto levels = floats_at_the_front(body, 2 * groups);
      const auto back = decoded<float>(parse(name), layout, body);
      double largest_step = 0, largest_value = 0;
      for (std::size_t group = 0; group < groups; ++group) {
        largest_step = std::max(largest_step, double{levels[2 * group + 1]});
      }
      for (const float value : tensor.values) largest_value = std::max(largest_value, std::abs(double{value}));
      // float32 itself rounds the difference, the quotient and the sum.
      CHECK(largest_error(back, tensor.values) <= largest_step / 2 * 1.001 + largest_value * 0x1p-22);
    }
  }
}

TEST_CASE("values too small for steps of their own, and those that span nearly all of float32, stay finite and close") {
  const auto huge = std::numeric_limits<float>::max() / 2.5F, tiny = std::numeric_limits<float>::denorm_min();
  for (const float scale : {huge, tiny, 1000 * tiny, std::numeric_limits<float>::min()}) {
    std::vector<float> values;
    for (int i = -50; i <= 50; ++i) values.push_back(scale * (static_cast<float>(i) / 50));
    const Layout layout{Element::float32, values.size(), 1, values.size()};
    for (const auto& [name, levels] :
         {std::pair{"uniform8", 256}, {"channel8", 256}, {"channel4", 16}, {"sort16", 4096}, {"sort8", 64}}) {
      CAPTURE(scale, name);
      const auto body = encoded(parse(name), layout, std::as_bytes(std::span(values)));
      const auto back = decoded<float>(parse(name), layout, body);
      // Where 1 / step is more than a float32 can say, all codes are 0, and a value is off by less than all levels.
      const double allowed = std::max(double{scale} * 2 / (levels - 1), levels * 0x1p-127);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(std::abs(double{back[i]} - double{values[i]}) <= allowed)) FAIL_CHECK(values[i] << " became " << back[i]);
      }
    }
  }
}

TEST_CASE("activations of bfloat16 become the body of the float32 values that they stand for, in every layout") {
  std::mt19937 random(12);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> values;
  std::vector<float> same;
  for (std::size_t i = 0; i < 7 * 11 * 13; ++i) {
    values.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(normal(random)) >> 16));
    same.push_back(widened(values.back()));
  }
  for (const auto& row : catalogue()) {
    if (!row.lossy || row.of_images) continue;
    const std::string name(row.name);
    for (const std::size_t stride : {1UL, 13UL}) {
      CAPTURE(name, stride);
      const Layout layout{Element::bfloat16, values.size(), 11, stride};
      const Layout wide{Element::float32, values.size(), 11, stride};
      const auto body = encoded(parse(name), layout, std::as_bytes(std::span(values)));
      CHECK(body == encoded(parse(name), wide, std::as_bytes(std::span(same))));
      const auto back = decoded<std::uint16_t>(parse(name), layout, body);
      const auto restored = decoded<float>(parse(name), wide, body);
      std::size_t other = 0;  // than the nearest number of 8 digits
      for (std::size_t i = 0; i < back.size(); ++i) {
        other += std::abs(widened(back[i]) - restored[i]) > std::abs(restored[i]) / 256;
      }
      CHECK(other == 0);
    }
  }
}

TEST_CASE("levels that are no numbers, descend, or lead beyond float32 are refused") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const Layout layout{Element::float32, values.size(), 4, 4};
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const std::string name :
       {"uniform8", "channel8", "channel4", "sort16", "sort12", "sort12-wide", "sort8", "sort4", "sort4-wide"}) {
    const auto body = encoded(parse(name), layout, std::as_bytes(std::span(values)));
    for (const auto& [min, step] : {std::pair{kNan, 1.0F},
                                    {0.0F, kNan},
                                    {kInfinity, 0.0F},
                                    {-kInfinity, 0.0F},
                                    {0.0F, kInfinity},
                                    {0.0F, -1.0F},
                                    {0.0F, kMost}}) {
      CAPTURE(name, min, step);
      auto hostile = body;
      std::memcpy(hostile.data(), &min, sizeof(min));
      std::memcpy(hostile.data() + sizeof(min), &step, sizeof(step));
      CHECK(contains(message_of<Damaged>([&] { decoded<float>(parse(name), layout, hostile); }), "levels"));
    }
  }
}
