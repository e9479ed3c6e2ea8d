#include <paretopipe/render/plot.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include <support/catch.hpp>

using paretopipe::render::AxisScale;

namespace {

std::vector<std::string> labels(const AxisScale& scale) {
  std::vector<std::string> texts;
  for (const double mark : scale.marks()) texts.push_back(scale.label(mark));
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("an axis begins and ends with a round mark around its values") {
  const AxisScale scale({27e6, 45e6, 61e6}, "ns");
  CHECK(labels(scale) == Texts{"20 ms", "30 ms", "40 ms", "50 ms", "60 ms", "70 ms"});
  CHECK(scale.share(20e6) == Approx(0).margin(1e-12));
  CHECK(scale.share(70e6) == Approx(1));
  CHECK(scale.share(45e6) == Approx(0.5));
}

TEST_CASE("round numbers of bytes are round in the unit that is read") {
  CHECK(labels(AxisScale({0, 900 * 1024}, "B")) ==
        Texts{"0 B", "200 KiB", "400 KiB", "600 KiB", "800 KiB", "1000 KiB"});
}

TEST_CASE("values that span more than a factor of 30 get a logarithmic axis, others and zero do not") {
  CHECK(AxisScale({1e6, 31e6}, "ns").logarithmic());
  CHECK_FALSE(AxisScale({1e6, 30e6}, "ns").logarithmic());
  CHECK_FALSE(AxisScale({0, 1e9}, "ns").logarithmic());
  const AxisScale scale({1e6, 1e9}, "ns");
  CHECK(labels(scale) == Texts{"1 ms", "10 ms", "100 ms", "1 s"});
  CHECK(scale.share(1e6) == Approx(0).margin(1e-12));
  CHECK(scale.share(1e8) == Approx(2.0 / 3));
}

TEST_CASE("one value sits within its axis, a zero and no value at all have one") {
  for (const double value : {5e6, 0.0, -3.0}) {
    const AxisScale scale({value}, "ns");
    CHECK(scale.share(value) > 0);
    CHECK(scale.share(value) < 1);
  }
  CHECK(AxisScale({}, "ns").marks().size() == 2);
}

TEST_CASE("whatever the values, all lie on the axis and the marks are few and ascending") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-3, 12);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<double> values{std::pow(10, exponent(random)), std::pow(10, exponent(random))};
    for (const auto* unit : {"ns", "B"}) {
      const AxisScale scale(values, unit);
      CAPTURE(values[0], values[1], unit);
      REQUIRE(scale.marks().size() >= 2);
      REQUIRE(scale.marks().size() <= 12);
      REQUIRE(std::is_sorted(scale.marks().begin(), scale.marks().end()));
      for (const double value : values) {
        REQUIRE(scale.share(value) >= -1e-9);
        REQUIRE(scale.share(value) <= 1 + 1e-9);
      }
    }
  }
}
