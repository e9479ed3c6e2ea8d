#pragma once
#include <paretopipe/report/frontier_report.hpp>
#include <paretopipe/report/svg_plot.hpp>

#include <span>

namespace paretopipe::report {

/// The report's groups as the series of one plot, with the 95 % intervals of `records`, of which the report was made.
/// The first two objectives are the axes; splits that lack one of them are left out. Series are named by what the
/// groups differ in. Throws UsageError for fewer than two objectives and for more groups than can be told apart.
Plot make_plot(std::span<const record::TrialRecord> records, const FrontierReport& report);

}  // namespace paretopipe::report
