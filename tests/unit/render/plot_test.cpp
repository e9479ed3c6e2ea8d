#include <paretopipe/render/plot.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include <support/catch.hpp>

using namespace paretopipe::render;

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

namespace {

const ScatterAxis kLatency{"latency", "ns"};
const ScatterAxis kThroughput{"throughput", "image/s"};
constexpr TextStyle kAscii{.width = 60, .colour = false, .unicode = false};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The lines of the drawing area, without margin, axes and legend.
std::vector<std::string> area_of(const std::string& text) {
  std::vector<std::string> area;
  for (const auto& line : lines_of(text)) {
    if (const auto bar = line.find('|'); bar != std::string::npos) area.push_back(line.substr(bar + 1));
  }
  return area;
}

std::size_t count(const std::vector<std::string>& lines, char c) {
  std::size_t total = 0;
  for (const auto& line : lines) total += static_cast<std::size_t>(std::count(line.begin(), line.end(), c));
  return total;
}

}  // namespace

TEST_CASE("low latency is at the left, high throughput at the top") {
  const auto area = area_of(render_scatter({{1e6, 10, "a", true}, {5e6, 90, "b", true}, {5e6, 10, "", false}}, kLatency,
                                           kThroughput, kAscii));
  REQUIRE(area.size() >= 10);
  CHECK(area.back().find("*") == 0);
  CHECK(area.front().back() == '*');
  CHECK(area.front().find('*') == area.back().find('.'));
}

TEST_CASE("frontier points carry their label, dominated ones do not, nor do they hide one in the same cell") {
  const auto area = area_of(
      render_scatter({{1e6, 10, "7", true}, {3e6, 50, "12", false}, {5e6, 90, "3", true}, {5e6, 90, "6", false}},
                     kLatency, kThroughput, kAscii));
  for (const auto& [mark, times] : {std::pair('*', 2U), {'.', 1}, {'7', 1}, {'3', 1}, {'2', 0}, {'6', 0}}) {
    CAPTURE(mark);
    CHECK(count(area, mark) == times);
  }
}

TEST_CASE("labels never run into one another or out of the plot") {
  std::vector<ScatterPoint> points;
  for (int i = 0; i < 500; ++i) points.push_back({1e6 + i * 1e3, 10.0 + i, std::to_string(i), true});
  for (const int width : {1, 40, 60, 110, 400}) {
    for (const auto& line :
         lines_of(render_scatter(points, kLatency, kThroughput, {.width = width, .unicode = true}))) {
      CHECK(display_width(line) <= static_cast<std::size_t>(std::clamp(width, 60, 110)));
    }
  }
}

TEST_CASE("the plot of one point, of equal points and of zeros has finite marks") {
  for (const auto& points : {std::vector<ScatterPoint>{{1e6, 10, "a", true}},
                             std::vector<ScatterPoint>{{1e6, 10, "a", true}, {1e6, 10, "b", true}},
                             std::vector<ScatterPoint>{{0, 0, "a", true}, {0, 0, "b", false}}}) {
    const auto text = render_scatter(points, kLatency, kThroughput, kAscii);
    CHECK(count(area_of(text), '*') == 1);
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("inf") == std::string::npos);
  }
  CHECK(render_scatter({}, kLatency, kThroughput, kAscii).empty());
}

TEST_CASE("an axis that spans more than a factor of 30 is logarithmic and says so") {
  const auto near = render_scatter({{1e6, 10, "a", true}, {30e6, 20, "b", true}}, kLatency, kThroughput, kAscii);
  CHECK(near.find("logarithmic") == std::string::npos);
  const auto far = render_scatter({{1e6, 10, "a", true}, {31e6, 20, "b", true}}, kLatency, kThroughput, kAscii);
  CHECK(far.find("latency, logarithmic") != std::string::npos);
  CHECK(far.find("throughput, logarithmic") == std::string::npos);
}

TEST_CASE("without colour there is no escape sequence, and plain ASCII stays plain") {
  const std::vector<ScatterPoint> points{{1e6, 10, "a", true}, {5e6, 5, "b", false}};
  const auto plain = render_scatter(points, kLatency, kThroughput, kAscii);
  CHECK(std::all_of(plain.begin(), plain.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
  const auto coloured = render_scatter(points, kLatency, kThroughput, {.width = 60, .colour = true, .unicode = true});
  CHECK(coloured.find("\x1b[") != std::string::npos);
}
