#include <paretopipe/report/trace_tracks.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace paretopipe::report {
namespace {

/// The way of a batch, from top to bottom. Links have varying names and come last.
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

}  // namespace paretopipe::report
