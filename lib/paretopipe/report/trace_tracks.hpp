#pragma once
#include <paretopipe/report/trace_spans.hpp>

#include <string>
#include <vector>

namespace paretopipe::report {

/// One row of a viewer. Spans on it never overlap: what is on a row must nest, and what waits in a queue side
/// by side does not.
struct TraceTrack {
  int process = 0;                 ///< from 1: the stages in their order, then what belongs to no stage
  int id = 0;                      ///< unique among all processes, from 1, in the order in which rows are to stand
  std::string name;                ///< the spans' track; from the second row of one track on with a number
  std::vector<const Span*> spans;  ///< in the order of their beginnings
};

/// Deals spans, in the order of their beginnings, out to rows: each to the first row of its track that is free. That
/// takes as many rows as spans of the track overlap at most. The spans must outlive the tracks.
std::vector<TraceTrack> lay_out_tracks(const std::vector<Span>& spans, int stage_count);

}  // namespace paretopipe::report
