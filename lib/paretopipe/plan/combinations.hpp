#pragma once
#include <paretopipe/config/partition.hpp>

#include <cstdint>
#include <vector>

/// The ways to cut a chain of blocks into stages of at least one block. Pure.
namespace paretopipe::plan {

using config::SplitPoints;

/// The number of partitions: C(blocks - 1, stages - 1), or the type's maximum if that is exceeded.
std::uint64_t count_partitions(int blocks, int stages);

/// All partitions, in lexicographic order. count_partitions() tells how much memory that takes.
std::vector<SplitPoints> every_partition(int blocks, int stages);

/// `count` different partitions, in lexicographic order; all of them if there are no more. All are equally likely, and
/// the same seed chooses the same ones on every platform.
std::vector<SplitPoints> some_partitions(int blocks, int stages, int count, std::uint64_t seed);

}  // namespace paretopipe::plan
