#pragma once
#include <paretopipe/config/partition.hpp>

#include <span>

/// Partitions that have a name. Pure.
namespace paretopipe::plan {

using config::SplitPoints;

/// The partition of a scheme that goes by the number of blocks. Every stage gets one; the others are handed out one by
/// one, each to the stage that is the farthest below its share: Sainte-Laguë's method of the highest averages, weight /
/// (2 blocks + 1), of equal ones to the earliest stage. Requires blocks >= stages, and another scheme than equal_time.
SplitPoints share_blocks(config::Scheme scheme, int blocks, int stages);

/// The partition into stages of one block at least whose slowest stage takes the least time, given the time of every
/// block: exact, by dynamic programming over the number of stages, as PipeDream's optimiser (Narayanan et al., 2019)
/// balances them where links cost nothing. Of equally good ones the lexicographically smallest. Requires
/// times.size() >= stages.
SplitPoints balance_times(std::span<const double> times, int stages);

}  // namespace paretopipe::plan
