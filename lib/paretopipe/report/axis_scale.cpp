#include <paretopipe/report/axis_scale.hpp>
#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace paretopipe::report {
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
  auto text = format_value(mark, unit_);
  const auto end = std::min(text.find(' '), text.size());
  if (text.find('.') >= end) return text;
  auto digits = text.substr(0, end);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits + text.substr(end);
}

}  // namespace paretopipe::report
