#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::report {

/// Values that span a larger factor than this are shown on a logarithmic axis.
inline constexpr double kLogarithmicFrom = 30;

/// A range of an axis that holds all given values and has round marks at both ends.
class AxisScale {
 public:
  /// The unit is one of record::Metric's. Bytes have round marks in powers of two, all other units in powers of ten.
  /// Values may be in any order and must be finite; without values the axis runs from 0 to 1.
  AxisScale(const std::vector<double>& values, std::string_view unit);

  /// 0 at the axis' beginning, 1 at its end.
  double share(double value) const;

  double low() const { return marks_.front(); }
  double high() const { return marks_.back(); }
  bool logarithmic() const { return logarithmic_; }

  /// Ascending, at least two.
  const std::vector<double>& marks() const { return marks_; }

  /// "20 ms": as few digits as necessary.
  std::string label(double mark) const;

 private:
  std::string unit_;
  bool logarithmic_ = false;
  std::vector<double> marks_;
};

}  // namespace paretopipe::report
