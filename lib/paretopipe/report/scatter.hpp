#pragma once
#include <paretopipe/report/text_style.hpp>

#include <string>
#include <vector>

namespace paretopipe::report {

struct ScatterPoint {
  double x = 0;
  double y = 0;
  std::string label;  ///< shown for points on the frontier, where there is room
  bool on_frontier = false;
};

/// What an axis shows. The unit decides how its marks are written (format_value).
struct ScatterAxis {
  std::string title;
  std::string unit;
};

/// A scatter plot of characters, as wide as the terminal allows (60 to 110 columns), newline at the end. An axis whose
/// positive values span more than a factor of 30 is logarithmic, and says so. Without points, an empty text.
std::string render_scatter(const std::vector<ScatterPoint>& points, const ScatterAxis& x, const ScatterAxis& y,
                           const TextStyle& style);

}  // namespace paretopipe::report
