#pragma once
#include <paretopipe/frontier/frontier.hpp>

#include <cstddef>
#include <span>
#include <vector>

/// Sorts complete points, fast enough for millions: their costs are compared only if nothing cheaper tells them apart.
namespace paretopipe::frontier {

/// `chosen` in lexicographic order of their costs; equal points are in the order of their numbers. No point is
/// dominated by one that comes after it.
std::vector<std::size_t> lexicographic_order(const Points& points, std::span<const std::size_t> chosen);

/// The rank of each of `chosen` in one objective, from 1: the number of different costs among them that are no larger.
std::vector<std::size_t> ranks(const Points& points, std::span<const std::size_t> chosen, std::size_t objective);

}  // namespace paretopipe::frontier
