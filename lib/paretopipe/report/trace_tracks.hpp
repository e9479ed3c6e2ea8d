#pragma once
#include <paretopipe/report/trace_spans.hpp>

#include <string>
#include <vector>

namespace paretopipe::report {

/// One row of a viewer. Its spans never overlap: spans on a row must nest, and those that wait in a queue side by side
/// do not.
struct TraceTrack {
  int process = 0;                 ///< from 1: the stages in order, then the whole pipeline
  int id = 0;                      ///< unique among all processes, from 1, in the order of the rows
  std::string name;                ///< the spans' track; with a number from its second row on
  std::vector<const Span*> spans;  ///< in the order of their beginnings
};

/// Distributes spans, which must be ordered by their beginnings, to rows: each to the first free row of its track. A
/// track gets as many rows as its spans overlap at most. The spans must outlive the tracks.
std::vector<TraceTrack> lay_out_tracks(const std::vector<Span>& spans, int stage_count);

}  // namespace paretopipe::report
