#pragma once
#include <paretopipe/report/text_style.hpp>

#include <string>
#include <vector>

namespace paretopipe::report {

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

}  // namespace paretopipe::report
