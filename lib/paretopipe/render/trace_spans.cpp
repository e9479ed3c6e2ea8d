#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/render/trace_spans.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace paretopipe::render {

namespace {

using Moments = std::vector<std::int64_t>;
using record::Part;

/// Beyond this (eleven days) microseconds could not be written exactly to the nanosecond.
constexpr std::int64_t kLongestNs = 1'000'000'000'000'000;

/// The spans of one phase, in the phase's own time base.
class PhaseSpans {
 public:
  PhaseSpans(const record::TrialRecord& record, const record::PhaseSamples& samples, std::string phase)
      : record_(record),
        samples_(samples),
        phase_(std::move(phase)),
        breakdown_(stats::micro_batch_breakdown(samples)),
        stages_(stats::stage_count(samples)) {}

  std::vector<Span> make() {
    add_batches();
    add_parts();
    if (stages_ > 1) add_details();
    const auto end = *std::max_element(samples_.results.completed.begin(), samples_.results.completed.end());
    add({.kind = SpanKind::phase, .name = phase_, .stage = kPipeline, .track = "phase", .begin_ns = 0, .end_ns = end});
    if (phase_ == "offline") add_bubbles();
    return std::move(spans_);
  }

 private:
  void add(Span span) {
    if (span.begin_ns < 0 || span.end_ns < span.begin_ns || span.end_ns > kLongestNs) {
      const auto whose = span.batch ? fmt::format(" of batch {}", *span.batch) : "";
      throw UsageError(fmt::format(
          "the samples are damaged, or bring clocks together that do not agree: in the {} phase, {}{} lasts from "
          "{} ns to {} ns",
          phase_, span.name, whose, span.begin_ns, span.end_ns));
    }
    span.phase = phase_;
    span.warmup = span.batch && *span.batch < samples_.warmup;
    spans_.push_back(std::move(span));
  }

  /// One span per micro-batch (`micro_batches` of them are a batch), from moment to moment. None if it took no time.
  void add_each(const Span& pattern, const Moments& begin, const Moments& end, int micro_batches) {
    for (std::size_t i = 0; i < begin.size(); ++i) {
      if (begin[i] == end[i]) continue;
      auto span = pattern;
      span.begin_ns = begin[i];
      span.end_ns = end[i];
      span.batch = static_cast<int>(i) / micro_batches;
      if (micro_batches > 1) span.micro_batch = static_cast<int>(i) % micro_batches;
      add(std::move(span));
    }
  }

  void add_batches() {
    const Span latency{.kind = SpanKind::batch, .name = "latency", .stage = kPipeline, .track = "batches"};
    add_each(latency, stats::of_last_micro_batches(samples_.stages.front().receive_begin, samples_.micro_batches),
             stats::of_last_micro_batches(samples_.results.completed, samples_.micro_batches), 1);
  }

  void add_parts() {
    auto reached = samples_.stages.front().receive_begin;
    for (const auto& [part, stage, durations] : breakdown_.parts) {
      const auto& moments = samples_.stages[static_cast<std::size_t>(stage)];
      auto end = reached;
      std::transform(end.begin(), end.end(), durations.begin(), end.begin(), std::plus<>());
      if (part == Part::encode) end = moments.encoded;
      add_each(pattern_of(part, stage), reached, end, samples_.micro_batches);
      if (part == Part::send_queue) add_codec(moments, stage, end);
      reached = std::move(end);
    }
  }

  /// With a codec the send thread encodes, too, before it sends. `reached` becomes the moment at which it sends.
  void add_codec(const StageTimeline& moments, int stage, std::vector<std::int64_t>& reached) {
    auto encode = pattern_of(Part::encode, stage);
    encode.track = "send";
    add_each(encode, reached, moments.send_begin, samples_.micro_batches);
    reached = moments.send_begin;
  }

  Span pattern_of(Part part, int stage) const {
    Span span{.kind = SpanKind::part, .name = nlohmann::json(part).get<std::string>(), .stage = stage};
    switch (part) {
      case Part::queue:
        span.track = "queue";
        break;
      case Part::compute:
      case Part::encode:
        span.track = "compute";
        break;
      case Part::send_queue:
        span.track = "send queue";
        break;
      case Part::decode:
        span.track = "receive";
        break;
      case Part::transfer:  // the breakdown names the receiver; the link belongs to the sender
        span.stage = (stage + stages_ - 1) % stages_;
        span.track = stage == 0 ? "link back to stage 0" : fmt::format("link to stage {}", stage);
        if (const auto link = static_cast<std::size_t>(span.stage); link < record_.links.size())
          span.payload_bytes = record_.links[link].payload_bytes / samples_.micro_batches;
        span.clock_error_ns = record::clock_error_ns(record_, span.stage, stage);
        break;
    }
    return span;
  }

  void add_details() {
    for (int s = 0; s < stages_; ++s) {
      const auto& stage = samples_.stages[static_cast<std::size_t>(s)];
      add_each({.kind = SpanKind::detail, .name = "send", .stage = s, .track = "send"}, stage.send_begin,
               stage.send_end, samples_.micro_batches);
      const Span receive{.kind = SpanKind::detail, .name = "receive", .stage = s, .track = "receive"};
      if (s > 0) {
        add_each(receive, stage.receive_begin, stage.receive_end, samples_.micro_batches);
      } else {
        add_each(receive, samples_.results.receive_begin, samples_.results.receive_end, samples_.micro_batches);
      }
    }
  }

  void add_bubbles() {
    const auto window = stats::completion_window(samples_);
    add({.kind = SpanKind::phase,
         .name = "throughput window",
         .stage = kPipeline,
         .track = "throughput window",
         .begin_ns = window.first,
         .end_ns = window.last});
    for (int s = 0; s < stages_; ++s) {
      for (const auto& [begin, end] : stats::bubbles(samples_.stages[static_cast<std::size_t>(s)], window)) {
        add({.kind = SpanKind::bubble,
             .name = "bubble",
             .stage = s,
             .track = "bubble",
             .begin_ns = begin,
             .end_ns = end});
      }
    }
  }

  const record::TrialRecord& record_;
  const record::PhaseSamples& samples_;
  std::string phase_;
  stats::Breakdown breakdown_;
  int stages_;
  std::vector<Span> spans_;
};

}  // namespace

std::string to_string(SpanKind kind) {
  static constexpr Word<SpanKind> kKinds[]{{SpanKind::phase, "phase"},
                                           {SpanKind::batch, "batch"},
                                           {SpanKind::part, "part"},
                                           {SpanKind::detail, "detail"},
                                           {SpanKind::bubble, "bubble"}};
  return word_of(kKinds, kind);
}

std::vector<Span> trace_spans(const record::TrialRecord& record) {
  if (!record.single_stream && !record.offline) throw UsageError("the record holds no samples");
  if (record.trial.data_parallel > 0) throw UsageError("batches that were dealt out have no stages to trace");
  if (record.single_stream && record.offline &&
      stats::stage_count(*record.single_stream) != stats::stage_count(*record.offline)) {
    throw UsageError("the samples are damaged: the phases are of different numbers of stages");
  }
  std::vector<Span> spans;
  if (record.single_stream) spans = PhaseSpans(record, *record.single_stream, "single_stream").make();
  std::int64_t begin = 0;  // of the Offline phase
  for (const auto& span : spans) begin = std::max(begin, span.end_ns + kPhaseGapNs);
  if (record.offline) {
    for (auto& span : PhaseSpans(record, *record.offline, "offline").make()) {
      span.begin_ns += begin;
      span.end_ns += begin;
      spans.push_back(std::move(span));
    }
  }
  std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  return spans;
}

namespace {

/// The order of the tracks, from top to bottom: the way of a batch. Links have varying names and come last.
constexpr std::array<std::string_view, 9> kOrder{
    "phase", "throughput window", "batches", "receive", "queue", "compute", "bubble", "send queue", "send"};

auto place_of(const TraceTrack& track) {
  return std::find(kOrder.begin(), kOrder.end(), track.spans.front()->track) - kOrder.begin();
}

bool is_free(const TraceTrack& track, const Span& span) {
  return track.spans.back()->end_ns <= span.begin_ns;
}

}  // namespace

std::vector<TraceTrack> lay_out_tracks(const std::vector<Span>& spans, int stage_count) {
  std::vector<TraceTrack> tracks;
  for (const auto& span : spans) {
    const int process = (span.stage == kPipeline ? stage_count : span.stage) + 1;
    int row = 1;
    auto track = tracks.begin();
    for (; track != tracks.end(); ++track) {
      if (track->process != process || track->spans.front()->track != span.track) continue;
      if (is_free(*track, span)) break;
      ++row;
    }
    if (track == tracks.end()) {
      tracks.push_back({process, 0, row == 1 ? span.track : fmt::format("{} ({})", span.track, row), {}});
      track = tracks.end() - 1;
    }
    track->spans.push_back(&span);
  }
  std::stable_sort(tracks.begin(), tracks.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.process, place_of(a)) < std::tuple(b.process, place_of(b));
  });
  for (std::size_t i = 0; i < tracks.size(); ++i) tracks[i].id = static_cast<int>(i) + 1;
  return tracks;
}

}  // namespace paretopipe::render
