#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>

#include <nlohmann/json.hpp>

namespace paretopipe {

/// How a stage prepared for a trial's runs: it made a graph of its blocks or kept one from an earlier trial. A graph's
/// bytes are those of its tensors, except tensors that the blocks hold anyway.
struct Preparation {
  bool made = false;              ///< made for this trial; otherwise kept, or the stage has no blocks
  std::int64_t duration_ns = 0;   ///< taken before anything is timed
  std::int64_t graph_bytes = 0;   ///< of this trial's graph
  int graphs = 0;                 ///< held by the stage now, including this trial's
  std::int64_t graphs_bytes = 0;  ///< bytes of all of these
  std::int64_t limit_bytes = 0;   ///< limit up to which graphs are kept for later trials; the current one may exceed it

  bool operator==(const Preparation&) const = default;
};
PARETOPIPE_JSON(Preparation, made, duration_ns, graph_bytes, graphs, graphs_bytes, limit_bytes)

}  // namespace paretopipe
