#pragma once
#include <paretopipe/config/partition.hpp>

#include <span>

/// Named partitions. Pure.
namespace paretopipe::plan {

using config::SplitPoints;

/// The partition of a scheme that goes by the number of blocks. Every stage gets one block; each further block goes to
/// the stage farthest below its share. This is Sainte-Laguë's method of the highest averages, weight / (2 blocks + 1);
/// ties go to the earliest stage. Requires blocks >= stages, and a scheme other than equal_time.
SplitPoints share_blocks(config::Scheme scheme, int blocks, int stages);

/// The partition into stages of at least one block whose slowest stage takes the least time, given the time of every
/// block. Exact, by dynamic programming over the number of stages, as PipeDream's optimiser (Narayanan et al., 2019)
/// does for links that cost nothing. Among equally good partitions, the lexicographically smallest. Requires
/// times.size() >= stages.
SplitPoints balance_times(std::span<const double> times, int stages);

}  // namespace paretopipe::plan
