#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a trace of a trial shows, before it takes any file's form.
namespace paretopipe::report {

/// What a span is, for whoever filters or adds up.
enum class SpanKind {
  phase,   ///< a whole phase, or the window that throughput refers to
  batch,   ///< one batch's latency
  part,    ///< one part of a micro-batch's (stats::micro_batch_breakdown): they follow one another, and those of a
           ///< batch's last micro-batch add up to the batch's latency
  detail,  ///< what lies within a transfer: the send call at one end, the receive call at the other
  bubble,  ///< a stage computes nothing, within the window of the Offline phase
};

std::string to_string(SpanKind kind);

/// Something that took time, on a track of its own kind. Spans of a track may overlap: what waits in a queue, or
/// travels on a link, is seldom alone at depth.
struct Span {
  SpanKind kind = SpanKind::part;
  std::string name{};   ///< "compute", "transfer", "bubble", …
  std::string phase{};  ///< "single_stream" or "offline"
  int stage = 0;        ///< whose track; kPipeline for what belongs to no stage
  std::string track{};  ///< "receive", "queue", "compute", "bubble", "send queue", "send", "link to stage 1", …
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<int> batch{};                   ///< sequence number in its phase, from 0, where it belongs to a batch
  std::optional<int> micro_batch{};             ///< number in its batch, from 0, of what belongs to one of several
  bool warmup = false;                          ///< of a batch that enters no statistic
  std::optional<std::int64_t> payload_bytes{};  ///< of a transfer, of one micro-batch

  bool operator==(const Span&) const = default;
};

inline constexpr int kPipeline = -1;

/// Between the phases, which a record has in time bases of their own: how far apart they really were is not recorded.
inline constexpr std::int64_t kPhaseGapNs = 1'000'000;

/// The phases on one time line, in nanoseconds since the first batch was handed to the pipeline, the Offline phase
/// kPhaseGapNs behind the end of the other, if there is one. Without the spans of parts that took no time at all; in
/// the order of their beginnings. Throws UsageError for samples that are missing or damaged, time that runs backwards
/// included.
std::vector<Span> trace_spans(const record::TrialRecord& record);

}  // namespace paretopipe::report
