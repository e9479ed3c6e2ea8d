#pragma once
#include <paretopipe/analysis/stats/bootstrap.hpp>
#include <paretopipe/record/metric.hpp>

#include <optional>
#include <string>
#include <vector>

namespace paretopipe::render {

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

}  // namespace paretopipe::render
