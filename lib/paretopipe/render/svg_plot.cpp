#include <paretopipe/render/plot.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace paretopipe::render {

namespace {

// In pixels.
constexpr double kWidth = 760, kHeight = 480;
constexpr double kLeft = 96, kRight = 24, kTop = 40, kBottom = 56;
constexpr double kFont = 13, kLineHeight = 18;
constexpr double kCharacter = 0.62 * kFont;  // approximate width of one

/// Okabe and Ito, "Color Universal Design" (2008), without the yellow that vanishes on paper.
constexpr std::array<const char*, kMostSeries> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                        "#e69f00", "#56b4e9", "#000000"};

struct Position {
  double x = 0;
  double y = 0;
};

std::string line(Position from, Position to, const std::string& attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x, from.y, to.x, to.y,
                     attributes);
}

std::string text(Position at, const char* anchor, const std::string& words, const std::string& attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", at.x, at.y, anchor,
                     attributes, xml_escaped(words));
}

/// Maps values to pixels.
class Frame {
 public:
  explicit Frame(const Plot& plot)
      : x_(values_of(plot, &PlotPoint::x, &PlotPoint::x_interval), plot.x.unit),
        y_(values_of(plot, &PlotPoint::y, &PlotPoint::y_interval), plot.y.unit) {}

  Position at(double x, double y) const { return {column(x), row(y)}; }
  double column(double x) const { return std::lerp(kLeft, kWidth - kRight, x_.share(x)); }
  double row(double y) const { return std::lerp(kHeight - kBottom, kTop, y_.share(y)); }
  const AxisScale& x() const { return x_; }
  const AxisScale& y() const { return y_; }

 private:
  static std::vector<double> values_of(const Plot& plot, double PlotPoint::*value,
                                       std::optional<stats::Interval> PlotPoint::*interval) {
    std::vector<double> values;
    for (const auto& series : plot.series) {
      for (const auto& point : series.points) {
        values.push_back(point.*value);
        if (const auto& bounds = point.*interval) values.insert(values.end(), {bounds->low, bounds->high});
      }
    }
    return values;
  }

  AxisScale x_, y_;
};

std::string axis_title(const PlotAxis& axis, const AxisScale& scale) {
  return fmt::format("{} ({} is better{})", axis.title, axis.better == record::Direction::min ? "less" : "more",
                     scale.logarithmic() ? "; logarithmic" : "");
}

std::string draw_axes(const Plot& plot, const Frame& frame) {
  constexpr const char* kGrid = "stroke=\"#dddddd\"";
  const double left = kLeft, right = kWidth - kRight, top = kTop, bottom = kHeight - kBottom;
  std::string svg;
  for (const double mark : frame.x().marks()) {
    const double x = frame.column(mark);
    svg += line({x, top}, {x, bottom}, kGrid) + text({x, bottom + kLineHeight}, "middle", frame.x().label(mark));
  }
  for (const double mark : frame.y().marks()) {
    const double y = frame.row(mark);
    svg += line({left, y}, {right, y}, kGrid) + text({left - 8, y + kFont / 3}, "end", frame.y().label(mark));
  }
  svg += line({left, bottom}, {right, bottom}, "stroke=\"#444444\"");
  svg += line({left, top}, {left, bottom}, "stroke=\"#444444\"");
  svg += text({right, kHeight - 12}, "end", axis_title(plot.x, frame.x()));
  return svg + text({8, kTop - 20}, "start", axis_title(plot.y, frame.y()));
}

/// From the worst y of the plot to the best x, along the frontier, and on to the worst x.
std::string draw_frontier(const Plot& plot, const PlotSeries& series, const Frame& frame, const char* colour) {
  std::vector<const PlotPoint*> members;
  for (const auto& point : series.points) {
    if (point.on_frontier) members.push_back(&point);
  }
  if (members.empty()) return "";
  const bool less_x = plot.x.better == record::Direction::min, less_y = plot.y.better == record::Direction::min;
  std::sort(members.begin(), members.end(), [&](const auto* a, const auto* b) {
    if (a->x != b->x) return less_x ? a->x < b->x : a->x > b->x;
    return less_y ? a->y > b->y : a->y < b->y;
  });
  std::string path;
  const auto go = [&](double x, double y) {
    const auto [column, row] = frame.at(x, y);
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", column, row);
  };
  go(members.front()->x, less_y ? frame.y().high() : frame.y().low());
  double reached = members.front()->y;
  for (const auto* member : members) {
    go(member->x, reached);
    go(member->x, reached = member->y);
  }
  go(less_x ? frame.x().high() : frame.x().low(), reached);
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour);
}

std::string draw_whiskers(const PlotPoint& point, const Frame& frame, const char* colour) {
  const auto attributes = fmt::format("stroke=\"{}\" stroke-opacity=\"{}\"", colour, point.on_frontier ? 0.8 : 0.35);
  std::string svg;
  if (point.x_interval) {
    svg += line(frame.at(point.x_interval->low, point.y), frame.at(point.x_interval->high, point.y), attributes);
  }
  if (point.y_interval) {
    svg += line(frame.at(point.x, point.y_interval->low), frame.at(point.x, point.y_interval->high), attributes);
  }
  return svg;
}

std::string draw_mark(const PlotPoint& point, const Frame& frame, const char* colour) {
  const auto [x, y] = frame.at(point.x, point.y);
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n", x, y,
                     point.on_frontier ? 5 : 3.5, point.on_frontier ? colour : "#ffffff", colour);
}

/// The places that text already occupies.
class Room {
 public:
  /// Takes the place of a text that begins at `left` on the baseline `base`, if it lies within the axes and is free.
  bool take(double left, double base, double width) {
    const Box box{left, base - kFont, left + width, base + 3};
    if (box.left < kLeft || box.right > kWidth || box.top < kTop - kFont || box.bottom > kHeight - kBottom)
      return false;
    const auto overlaps = [&](const Box& other) {
      return box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
    };
    if (std::any_of(taken_.begin(), taken_.end(), overlaps)) return false;
    taken_.push_back(box);
    return true;
  }

 private:
  struct Box {
    double left, top, right, bottom;
  };
  std::vector<Box> taken_;
};

/// Beside, above or below its point, at the first place where it fits, if any.
std::string draw_label(const PlotPoint& point, const Frame& frame, Room& room) {
  const auto [x, y] = frame.at(point.x, point.y);
  const double width = kCharacter * static_cast<double>(display_width(point.label));
  for (const auto& [left, base] : {Position{x - width - 7, y - 7}, Position{x + 7, y - 7},
                                   Position{x + 7, y + kFont + 3}, Position{x - width - 7, y + kFont + 3}}) {
    if (room.take(left, base, width)) return text({left, base}, "start", point.label);
  }
  return "";
}

/// The legend is below the plot, where it hides nothing. One series needs none.
double legend_height(const Plot& plot) {
  return plot.series.size() < 2 ? 0 : kLineHeight * static_cast<double>(plot.series.size()) + 8;
}

/// Keeps both ends of a name that is wider than the picture.
std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 96;
  if (name.size() <= kMost) return name;
  const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80; };
  auto head = kMost / 2, tail = name.size() - kMost / 2;
  while (inside_character(head)) --head;
  while (tail < name.size() && inside_character(tail)) ++tail;
  return name.substr(0, head) + " … " + name.substr(tail);
}

std::string draw_legend(const Plot& plot) {
  if (plot.series.size() < 2) return "";
  std::string svg;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const double y = kHeight + kLineHeight * static_cast<double>(i) + 8;
    svg +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", kLeft, y - kFont / 3, kColours[i]);
    svg += text({kLeft + 12, y}, "start", shortened(plot.series[i].name));
  }
  return svg;
}

}  // namespace

std::string render_svg(const Plot& plot) {
  if (plot.series.size() > kMostSeries) throw std::invalid_argument("more series than colours");
  const Frame frame(plot);
  auto svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"sans-serif\" font-size=\"{2}\" fill=\"#222222\">\n<title>{3}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight + legend_height(plot), kFont, xml_escaped(plot.title));
  svg += draw_axes(plot, frame) + draw_legend(plot);
  std::string whiskers, frontiers, marks, labels;
  Room room;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const auto& series = plot.series[i];
    frontiers += draw_frontier(plot, series, frame, kColours[i]);
    for (const bool on_frontier : {false, true}) {  // a frontier point is never hidden by a dominated one
      for (const auto& point : series.points) {
        if (point.on_frontier != on_frontier) continue;
        whiskers += draw_whiskers(point, frame, kColours[i]);
        marks += draw_mark(point, frame, kColours[i]);
        if (on_frontier) labels += draw_label(point, frame, room);
      }
    }
  }
  return svg + whiskers + frontiers + marks + labels + "</svg>\n";
}

}  // namespace paretopipe::render
