#pragma once
#include <paretopipe/report/frontier_report.hpp>

namespace paretopipe::report {

/// Fills in what the repetitions say of a group's medians: their intervals, how probable it is that a row is on the
/// frontier or the balanced choice, and which rows cannot be told apart.
///
/// Joint bootstrap: in each of stats::kResamples resamples every compared row's repetitions are drawn anew, with all
/// objectives of a repetition together, and the frontier and the balanced choice of the new medians are found. Rows are
/// drawn independently of each other. A row with one repetition enters as it stands. Two rows can be told apart in an
/// objective where the 95 % interval of the difference of their medians excludes zero.
void add_confidence(FrontierGroup& group, std::span<const record::TrialRecord> records,
                    const std::vector<Objective>& objectives, std::uint64_t seed);

}  // namespace paretopipe::report
