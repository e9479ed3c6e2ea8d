#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/plot.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace paretopipe::render {

namespace {

constexpr double kTicks = 5;  // the approximate number

/// 1, 2, 5 or 10 times a power of ten, at least `least`.
double round_up(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

std::vector<double> even_marks(double least, double most, bool binary) {
  // A single value is centred.
  const double margin = least == most ? std::max(std::abs(most) / 10, 1e-9) : 0;
  const double range = most - least + 2 * margin;
  // Bytes are rounded in the unit that people will read.
  const double unit = binary && range >= 1024 ? std::pow(1024, std::floor(std::log2(range) / 10)) : 1;
  const double step = round_up(range / unit / kTicks) * unit;
  const double first = std::floor((least - margin) / step), last = std::ceil((most + margin) / step);
  std::vector<double> marks;
  for (double i = first; i <= std::max(last, first + 1); ++i) marks.push_back(i * step);
  return marks;
}

std::vector<double> logarithmic_marks(double least, double most, bool binary) {
  const double base = binary ? 2 : 10;
  const auto power = [&](double value) { return std::log(value) / std::log(base); };
  // A whole power stays one even if its logarithm was rounded.
  const double first = std::floor(power(least) + 1e-9), last = std::ceil(power(most) - 1e-9);
  const double step = std::max(1.0, std::round((last - first) / kTicks));
  std::vector<double> marks;
  for (double i = first; i < last + step; i += step) marks.push_back(std::pow(base, i));
  return marks;
}

}  // namespace

AxisScale::AxisScale(const std::vector<double>& values, std::string_view unit) : unit_(unit) {
  const bool binary = unit.starts_with('B');
  if (values.empty()) {
    marks_ = {0, 1};
    return;
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  logarithmic_ = *least > 0 && *most / *least > kLogarithmicFrom;
  marks_ = logarithmic_ ? logarithmic_marks(*least, *most, binary) : even_marks(*least, *most, binary);
}

double AxisScale::share(double value) const {
  if (logarithmic_) return std::log(value / low()) / std::log(high() / low());
  return (value - low()) / (high() - low());
}

std::string AxisScale::label(double mark) const {
  auto text = record::format_value(mark, unit_);
  const auto end = std::min(text.find(' '), text.size());
  if (text.find('.') >= end) return text;
  auto digits = text.substr(0, end);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits + text.substr(end);
}

namespace {

struct Glyphs {
  const char* frontier;
  const char* dominated;
  const char* vertical;
  const char* horizontal;
  const char* corner;
};

constexpr Glyphs kUnicode{"●", "·", "│", "─", "└"};
constexpr Glyphs kAscii{"*", ".", "|", "-", "+"};

/// Maps values to cells 0 … cells - 1.
class Scale {
 public:
  Scale(std::vector<double> values, int cells) : cells_(cells) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    logarithmic_ = *least > 0 && *most / *least > kLogarithmicFrom;
    low_ = forward(*least);
    high_ = forward(*most);
    if (low_ == high_) {  // a single value is centred
      const double margin = low_ == 0 ? 1 : std::abs(low_) * 0.1;
      low_ -= margin;
      high_ += margin;
    }
  }

  int cell(double value) const {
    return static_cast<int>(std::lround((forward(value) - low_) / (high_ - low_) * (cells_ - 1)));
  }

  /// The value at a share (0 … 1) of the axis.
  double at(double share) const {
    const double position = std::lerp(low_, high_, share);
    return logarithmic_ ? std::exp(position) : position;
  }

  bool logarithmic() const { return logarithmic_; }

 private:
  double forward(double value) const { return logarithmic_ ? std::log(value) : value; }

  int cells_;
  bool logarithmic_ = false;
  double low_ = 0;
  double high_ = 0;
};

/// Cells of one character each, row 0 at the top.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width), rows_(static_cast<std::size_t>(height), std::vector<Cell>(static_cast<std::size_t>(width))) {}

  void put(int column, int row, std::string glyph, bool highlighted) {
    rows_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = {std::move(glyph), highlighted};
  }

  bool blank(int column, int row, int length) const {
    if (column < 0 || column + length > width_ || row < 0 || row >= static_cast<int>(rows_.size())) return false;
    const auto begin = rows_[static_cast<std::size_t>(row)].begin() + column;
    return std::all_of(begin, begin + length, [](const Cell& cell) { return cell.glyph == " "; });
  }

  std::string line(std::size_t row, const TextStyle& style) const {
    std::string text;
    for (const auto& cell : rows_[row]) text += cell.highlighted ? highlight(cell.glyph, style) : cell.glyph;
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  struct Cell {
    std::string glyph = " ";
    bool highlighted = false;
  };

  int width_;
  std::vector<std::vector<Cell>> rows_;
};

/// Puts the label beside, above or below its point, at the first place with room for it and a blank around it, if any.
void place_label(Canvas& canvas, int column, int row, const std::string& label) {
  const int length = static_cast<int>(label.size());
  struct Place {
    int column, row;
  };
  for (const auto& place :
       {Place{column + 1, row}, Place{column - length, row}, Place{column, row - 1}, Place{column, row + 1}}) {
    const int left = place.column > column ? place.column : place.column - 1;
    if (!canvas.blank(std::max(left, 0), place.row, length + 1) || place.column < 0) continue;
    for (int i = 0; i < length; ++i)
      canvas.put(place.column + i, place.row, std::string(1, label[static_cast<std::size_t>(i)]), true);
    return;
  }
}

void draw(Canvas& canvas, const std::vector<ScatterPoint>& points, const Scale& x, const Scale& y, int height,
          const Glyphs& glyphs) {
  const auto row_of = [&](const ScatterPoint& point) { return height - 1 - y.cell(point.y); };
  for (const bool on_frontier : {false, true}) {  // a frontier point is never hidden by a dominated one
    for (const auto& point : points) {
      if (point.on_frontier != on_frontier) continue;
      canvas.put(x.cell(point.x), row_of(point), on_frontier ? glyphs.frontier : glyphs.dominated, on_frontier);
    }
  }
  for (const auto& point : points) {
    if (point.on_frontier) place_label(canvas, x.cell(point.x), row_of(point), point.label);
  }
}

/// Marks at both ends and in the middle of the axis, as far as they fit.
std::string x_marks(const Scale& scale, const std::string& unit, int width) {
  std::string line(static_cast<std::size_t>(width), ' ');
  std::size_t free_from = 0;
  for (const double share : {0.0, 0.5, 1.0}) {
    const auto mark = record::format_value(scale.at(share), unit);
    const auto room = static_cast<double>(line.size()) - static_cast<double>(mark.size());
    const auto begin = static_cast<std::size_t>(std::max(0.0, room * share));
    if (begin < free_from || begin + mark.size() > line.size()) continue;
    line.replace(begin, mark.size(), mark);
    free_from = begin + mark.size() + 1;
  }
  return line.erase(line.find_last_not_of(' ') + 1);
}

std::string titled(const ScatterAxis& axis, const Scale& scale) {
  return axis.title + (scale.logarithmic() ? ", logarithmic" : "");
}

}  // namespace

std::string render_scatter(const std::vector<ScatterPoint>& points, const ScatterAxis& x, const ScatterAxis& y,
                           const TextStyle& style) {
  if (points.empty()) return "";
  std::vector<double> xs, ys;
  for (const auto& point : points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  const int total = std::clamp(style.width, 60, 110);
  const int height = std::clamp(total / 5, 10, 20);
  const Scale y_scale(ys, height);
  const int middle = (height - 1) / 2;
  const std::array marks{record::format_value(y_scale.at(1), y.unit),
                         record::format_value(y_scale.at(1 - static_cast<double>(middle) / (height - 1)), y.unit),
                         record::format_value(y_scale.at(0), y.unit)};
  const auto margin = std::max({marks[0].size(), marks[1].size(), marks[2].size()}) + 1;
  const int width = std::max(10, total - static_cast<int>(margin) - 1);
  const Scale x_scale(xs, width);
  const auto& glyphs = style.unicode ? kUnicode : kAscii;
  Canvas canvas(width, height);
  draw(canvas, points, x_scale, y_scale, height, glyphs);

  std::string text = titled(y, y_scale) + '\n';
  for (int row = 0; row < height; ++row) {
    const auto mark = row == 0 ? marks[0] : row == middle ? marks[1] : row == height - 1 ? marks[2] : "";
    text += fmt::format("{:>{}}{}{}\n", mark + ' ', margin, glyphs.vertical,
                        canvas.line(static_cast<std::size_t>(row), style));
  }
  text += std::string(margin, ' ') + glyphs.corner;
  for (int i = 0; i < width; ++i) text += glyphs.horizontal;
  text += fmt::format("\n{:{}}{}\n", "", margin + 1, x_marks(x_scale, x.unit, width));
  const auto title = titled(x, x_scale);
  const auto indent = margin + 1 + static_cast<std::size_t>(std::max(0, width - static_cast<int>(title.size())));
  text += fmt::format("{:{}}{}\n", "", indent, title);
  text += fmt::format("{} on the frontier, with its split   {} dominated\n", glyphs.frontier, glyphs.dominated);
  return text;
}

}  // namespace paretopipe::render
