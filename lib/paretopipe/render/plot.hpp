#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/analysis/stats/bootstrap.hpp>
#include <paretopipe/record/metric.hpp>
#include <paretopipe/render/table.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::render {

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

struct ScatterPoint {
  double x = 0;
  double y = 0;
  std::string label;  ///< shown on the frontier if there is room
  bool on_frontier = false;
};

/// The content of an axis. The unit decides how its marks are written (format_value).
struct ScatterAxis {
  std::string title;
  std::string unit;
};

/// A scatter plot of characters, as wide as the terminal allows (60 to 110 columns), with a newline at the end. An axis
/// whose positive values span more than a factor of 30 is logarithmic, and says so. Empty if there are no points.
std::string render_scatter(const std::vector<ScatterPoint>& points, const ScatterAxis& x, const ScatterAxis& y,
                           const TextStyle& style);

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::optional<stats::Interval> x_interval;  ///< shown as whiskers
  std::optional<stats::Interval> y_interval;
  std::string label;  ///< shown on the frontier if there is room
  bool on_frontier = false;
};

/// Points that share a frontier.
struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;
};

struct PlotAxis {
  std::string title;
  std::string unit;  ///< of record::Metric
  record::Direction better = record::Direction::min;
};

struct Plot {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;  ///< at most kMostSeries
};

/// The number of colours that the colour-blind can tell apart.
inline constexpr std::size_t kMostSeries = 7;

/// A drawing for papers and READMEs, in SVG 1.1 without scripts, external styles or embedded fonts: marks, each series'
/// frontier as a step line (the border of what it beats), intervals as whiskers, and the frontier's labels. All numbers
/// must be finite. Throws std::invalid_argument for more than kMostSeries series.
std::string render_svg(const Plot& plot);

/// The report's groups as the series of one plot, with their 95 % intervals. The first two objectives are the axes;
/// splits that lack one of them are left out. Series are named by the groups' differences. Throws UsageError for fewer
/// than two objectives and for more groups than can be told apart.
Plot make_plot(const frontier::FrontierReport& report);

}  // namespace paretopipe::render
