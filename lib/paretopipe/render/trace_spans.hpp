#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::render {

// The content of a trial's trace, independent of file formats.

/// The kind of a span, for filtering and adding up.
enum class SpanKind {
  phase,   ///< a whole phase, or the window that throughput refers to
  batch,   ///< one batch's latency
  part,    ///< one part of a micro-batch's (stats::micro_batch_breakdown): they follow one another, and those of a
           ///< batch's last micro-batch add up to the batch's latency
  detail,  ///< the calls within a transfer: sending at one end, receiving at the other
  bubble,  ///< a stage computes nothing, within the window of the Offline phase
};

std::string to_string(SpanKind kind);

/// A period on a track of its own kind. Spans of a track may overlap: at depth, several micro-batches usually wait in a
/// queue or travel on a link.
struct Span {
  SpanKind kind = SpanKind::part;
  std::string name{};   ///< "compute", "transfer", "bubble", …
  std::string phase{};  ///< "single_stream" or "offline"
  int stage = 0;        ///< the stage of its track; kPipeline if it belongs to no stage
  std::string track{};  ///< "receive", "queue", "compute", "bubble", "send queue", "send", "link to stage 1", …
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<int> batch{};                   ///< sequence number in its phase, from 0, if it belongs to a batch
  std::optional<int> micro_batch{};             ///< number in its batch, from 0, if the batch has several
  bool warmup = false;                          ///< belongs to a batch that enters no statistic
  std::optional<std::int64_t> payload_bytes{};  ///< of a transfer, for one micro-batch

  /// The most by which the duration of a transfer can be wrong whose ends were read on two clocks.
  std::optional<std::int64_t> clock_error_ns{};

  bool operator==(const Span&) const = default;
};

inline constexpr int kPipeline = -1;

/// The gap shown between phases. A record has separate time bases for them, so the real gap is unknown.
inline constexpr std::int64_t kPhaseGapNs = 1'000'000;

/// The phases on one time line, in nanoseconds since the first batch was handed to the pipeline. The Offline phase
/// begins kPhaseGapNs after the end of the other one, if there is one. Leaves out spans of parts that took no time.
/// Sorted by their beginnings. Throws UsageError for missing or damaged samples, including time that runs backwards.
std::vector<Span> trace_spans(const record::TrialRecord& record);

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

}  // namespace paretopipe::render
