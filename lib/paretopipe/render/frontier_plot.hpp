#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/render/svg_plot.hpp>

namespace paretopipe::render {

/// The report's groups as the series of one plot, with their 95 % intervals. The first two objectives are the axes;
/// splits that lack one of them are left out. Series are named by the groups' differences. Throws UsageError for fewer
/// than two objectives and for more groups than can be told apart.
Plot make_plot(const frontier::FrontierReport& report);

}  // namespace paretopipe::render
