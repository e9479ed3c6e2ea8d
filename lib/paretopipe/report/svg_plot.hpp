#pragma once
#include <paretopipe/record/metric.hpp>
#include <paretopipe/stats/bootstrap.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paretopipe::report {

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::optional<stats::Interval> x_interval;  ///< shown as whiskers
  std::optional<stats::Interval> y_interval;
  std::string label;  ///< shown for points on the frontier, where there is room
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

/// Colours that the colour-blind tell apart are that few.
inline constexpr std::size_t kMostSeries = 7;

/// A drawing for papers and READMEs, in SVG 1.1 without scripts, styles from elsewhere or fonts of its own: marks, each
/// series' frontier as a step line (the border of what it beats), intervals as whiskers, and the frontier's labels. All
/// numbers are finite. Throws std::invalid_argument for more than kMostSeries series.
std::string render_svg(const Plot& plot);

}  // namespace paretopipe::report
