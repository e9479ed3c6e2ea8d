#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::report {

/// Values that span a larger factor than this are shown on a logarithmic axis.
inline constexpr double kLogarithmicFrom = 30;

/// A stretch of an axis that holds all given values and begins and ends with a round mark.
class AxisScale {
 public:
  /// The unit is one of record::Metric's: bytes have round marks in powers of two, everything else in powers of ten.
  /// Values in any order, all finite; none of them make an axis from 0 to 1.
  AxisScale(const std::vector<double>& values, std::string_view unit);

  /// 0 at the axis' beginning, 1 at its end.
  double share(double value) const;

  double low() const { return marks_.front(); }
  double high() const { return marks_.back(); }
  bool logarithmic() const { return logarithmic_; }

  /// Ascending, at least two.
  const std::vector<double>& marks() const { return marks_; }

  /// "20 ms": the fewest digits that say it.
  std::string label(double mark) const;

 private:
  std::string unit_;
  bool logarithmic_ = false;
  std::vector<double> marks_;
};

}  // namespace paretopipe::report
