#pragma once
#include <cstdint>

#include <nlohmann/json.hpp>

namespace paretopipe {

/// What a stage did to get ready for a trial's runs: it made a graph of its blocks, or had it from an earlier trial.
/// A graph's bytes are those of its tensors, without what the blocks hold anyway.
struct Preparation {
  bool made = false;              ///< for this trial; otherwise it was kept, or the stage has no blocks
  std::int64_t duration_ns = 0;   ///< before anything is timed
  std::int64_t graph_bytes = 0;   ///< of this trial's graph
  int graphs = 0;                 ///< that the stage holds now, this trial's among them
  std::int64_t graphs_bytes = 0;  ///< of all of these
  std::int64_t limit_bytes = 0;   ///< up to which graphs are kept for later trials; the current one may be larger

  bool operator==(const Preparation&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Preparation, made, duration_ns, graph_bytes, graphs, graphs_bytes, limit_bytes)

}  // namespace paretopipe
