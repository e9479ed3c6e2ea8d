#pragma once
#include <paretopipe/frontier/frontier.hpp>

#include <cstddef>
#include <span>
#include <vector>

/// Sorting of complete points, fast for millions: their costs are compared where nothing cheaper tells them apart.
namespace paretopipe::frontier {

/// `chosen` in lexicographic order of their costs, equal points in the order of their numbers: nothing is dominated by
/// a point that comes after it.
std::vector<std::size_t> lexicographic_order(const Points& points, std::span<const std::size_t> chosen);

/// For each of `chosen` how many different costs up to its own there are among them in one objective, so from 1.
std::vector<std::size_t> ranks(const Points& points, std::span<const std::size_t> chosen, std::size_t objective);

}  // namespace paretopipe::frontier
