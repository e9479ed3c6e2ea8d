#pragma once
#include <paretopipe/core/text.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paretopipe::experiment {

inline constexpr int kMostStages = 16;

/// Named ways to divide the N blocks of a chain among K stages. All but the last divide by the number of blocks: stage
/// i (from 0) gets a share in proportion to its weight, and at least one block.
///
/// | scheme      | weight of stage i           | of four stages |
/// | equal-load  | 1                           | 1 : 1 : 1 : 1  |
/// | front-load  | K − i                       | 4 : 3 : 2 : 1  |
/// | front-heavy | 2^(K − 1 − i)               | 8 : 4 : 2 : 1  |
/// | middle-load | min(i + 1, K − i)           | 1 : 2 : 2 : 1  |
/// | end-load    | i + 1                       | 1 : 2 : 3 : 4  |
/// | end-heavy   | 2^i                         | 1 : 2 : 4 : 8  |
/// | equal-time  | the partition whose slowest stage computes fastest, by what each device takes for its blocks |
enum class Scheme { equal_load, front_load, front_heavy, middle_load, end_load, end_heavy, equal_time };

/// In the order of the table.
inline constexpr Word<Scheme> kSchemes[]{{Scheme::equal_load, "equal-load"},   {Scheme::front_load, "front-load"},
                                         {Scheme::front_heavy, "front-heavy"}, {Scheme::middle_load, "middle-load"},
                                         {Scheme::end_load, "end-load"},       {Scheme::end_heavy, "end-heavy"},
                                         {Scheme::equal_time, "equal-time"}};

/// The scheme's name as a user writes it, such as "front-heavy".
std::string_view to_string(Scheme scheme);

/// Every partition of a model: all strictly ascending cuts, and both endpoints (all on stage 0, all on the last stage).
struct AllPartitions {
  bool best = false;  ///< only those that may be on the frontier by predictions that the sweep makes

  bool operator==(const AllPartitions&) const = default;
};
/// The split points of one partition: K − 1 of them, ascending. Equal split points leave a stage without blocks.
using SplitPoints = std::vector<int>;

using PartitionChoice = std::variant<AllPartitions, Scheme, SplitPoints>;

/// Parses "all", "best", "4,9,14" or the name of a scheme. Throws UsageError for anything else, and if the number of
/// split points is not `stages` − 1.
PartitionChoice parse_partition(const std::string& text, int stages);

}  // namespace paretopipe::experiment
