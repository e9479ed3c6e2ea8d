#pragma once
#include <paretopipe/report/frontier_report.hpp>

#include <string>
#include <vector>

namespace paretopipe::report {

/// The table that people see, whatever it is drawn with.
struct FrontierTable {
  std::vector<std::string> headings;
  std::vector<bool> numeric;  ///< columns to be aligned at the right
  std::vector<std::vector<std::string>> rows;
};

FrontierTable make_table(const FrontierReport& report, const FrontierGroup& group, const std::string& frontier_mark,
                         const std::string& missing_mark);

/// "3 of 21 splits are on the frontier of latency_p50:min and throughput:max: 7, 12, 20."
std::string conclusion(const FrontierReport& report, const FrontierGroup& group);

/// A sentence for every split that failed, or that cannot be compared because it lacks an objective.
std::vector<std::string> remarks(const FrontierReport& report, const FrontierGroup& group);

}  // namespace paretopipe::report
