#pragma once
#include <paretopipe/config/partition.hpp>

#include <cstdint>
#include <vector>

/// The ways to cut a chain of blocks into stages of one block at least. Pure.
namespace paretopipe::plan {

using config::SplitPoints;

/// How many there are: C(blocks - 1, stages - 1), or the largest number of the type where that is more.
std::uint64_t count_partitions(int blocks, int stages);

/// All of them, in lexicographic order. count_partitions() says how much memory that takes.
std::vector<SplitPoints> every_partition(int blocks, int stages);

/// `count` different ones, in lexicographic order; all of them where there are no more. Every one is as likely as any
/// other, and the same seed chooses the same on every platform.
std::vector<SplitPoints> some_partitions(int blocks, int stages, int count, std::uint64_t seed);

}  // namespace paretopipe::plan
