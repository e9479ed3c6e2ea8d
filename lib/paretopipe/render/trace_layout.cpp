#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/trace_spans.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paretopipe::render {

namespace {

using Json = nlohmann::ordered_json;

/// The format counts microseconds. Three decimals keep every nanosecond, because spans are shorter than 2^53 ns.
double microseconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1000;
}

Json metadata(const char* what, int process, int track, const char* key, const Json& value) {
  Json event{{"name", what}, {"ph", "M"}, {"pid", process}};
  if (track > 0) event["tid"] = track;
  event["args"][key] = value;
  return event;
}

std::string process_name(const record::TrialRecord& record, int stage, int stages) {
  if (stage == stages) return "batches";
  const auto index = static_cast<std::size_t>(stage);
  const auto& on = record.trial.on;
  const auto name = fmt::format("stage {}{}", stage, index < on.size() ? " on " + on[index] : "");
  if (index >= record.stages.size()) return name;
  const auto blocks = record.stages[index].blocks;
  if (blocks.empty()) return name + ": no block";
  return fmt::format("{}: blocks {} to {} of {}", name, blocks.begin + 1, blocks.end, record.trial.block_count);
}

void append_names(Json& events, const record::TrialRecord& record, const std::vector<TraceTrack>& tracks, int stages) {
  for (int process = 1; process <= stages + 1; ++process) {
    events.push_back(metadata("process_name", process, 0, "name", process_name(record, process - 1, stages)));
    // The tracks of the whole pipeline are on top.
    events.push_back(metadata("process_sort_index", process, 0, "sort_index", process > stages ? 0 : process));
  }
  for (const auto& track : tracks) {
    events.push_back(metadata("thread_name", track.process, track.id, "name", track.name));
    events.push_back(metadata("thread_sort_index", track.process, track.id, "sort_index", track.id));
  }
}

/// A span's begin or end. Both contain the whole span, because some viewers match ends to begins by it.
Json event_of(const char* kind, std::int64_t ns, const Span& span, const TraceTrack& track) {
  Json event{{"name", span.name},
             {"cat", fmt::format("{},{}{}", to_string(span.kind), span.phase, span.warmup ? ",warmup" : "")},
             {"ph", kind},
             {"ts", microseconds(ns)},
             {"pid", track.process},
             {"tid", track.id},
             {"args", {{"phase", span.phase}}}};
  if (span.batch) {
    event["args"]["batch"] = *span.batch;
    if (span.micro_batch) event["args"]["chunk"] = *span.micro_batch;
    event["args"]["warmup"] = span.warmup;
  }
  if (span.payload_bytes) event["args"]["payload_bytes"] = *span.payload_bytes;
  if (span.clock_error_ns) event["args"]["clock_error_ns"] = *span.clock_error_ns;
  return event;
}

void append_spans(Json& events, const std::vector<TraceTrack>& tracks) {
  struct Entry {
    std::int64_t ns;
    bool begins;  // at the same moment, ends come first
    const Span* span;
    const TraceTrack* track;
    auto when() const { return std::pair(ns, begins); }
  };
  std::vector<Entry> entries;
  for (const auto& track : tracks) {
    for (const auto* span : track.spans) {
      entries.push_back({span->begin_ns, true, span, &track});
      entries.push_back({span->end_ns, false, span, &track});
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.when() < b.when(); });
  for (const auto& [ns, begins, span, track] : entries) {
    events.push_back(event_of(begins ? "B" : "E", ns, *span, *track));
  }
}

std::string time_base(const record::TrialRecord& record) {
  if (!record.offline) return "from the first batch of the SingleStream phase, the only one";
  if (!record.single_stream) return "from the first batch of the Offline phase, the only one";
  return fmt::format(
      "from the first batch of the SingleStream phase; the Offline phase is drawn {} ms after its end, for the pause "
      "in between is not recorded",
      kPhaseGapNs / 1'000'000);
}

/// Viewers show this as the trace's description. Drawing does not need it.
Json about(const record::TrialRecord& record) {
  return {{"program", fmt::format("paretopipe {}", record.provenance.version)},
          {"trial", record.trial.id()},
          {"label", record.trial.label()},
          {"status", to_string(record.status)},
          {"started_at", record.provenance.started_at},
          {"time", time_base(record)}};
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// One event per line, for reading the file without a viewer.
std::string trace_of(const record::TrialRecord& record) {
  const auto spans = trace_spans(record);
  const int stages = stats::stage_count(record.offline ? *record.offline : *record.single_stream);
  const auto tracks = lay_out_tracks(spans, stages);
  auto events = Json::array();
  append_names(events, record, tracks, stages);
  append_spans(events, tracks);
  auto text = fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[", to_text(about(record)));
  for (const auto& event : events) text += fmt::format("{}\n{}", &event == &events.front() ? "" : ",", to_text(event));
  return text + "\n]}\n";
}

}  // namespace

Export export_trace(std::span<const record::TrialRecord> records) {
  if (records.empty()) return {};
  if (records.size() > 1) {
    throw UsageError(
        fmt::format("a trace shows one trial, and there are {}; choose one with --trial, or --split and "
                    "--repetition:\n{}",
                    records.size(), describe_trials(records)));
  }
  const auto& record = records.front();
  if (!record.single_stream && !record.offline) {
    return {
        {},
        {fmt::format("{} has no samples to draw: {}", record::printable(record.trial.label()),
                     record.failure ? record::printable(record::describe(*record.failure)) : "the record holds none")}};
  }
  const auto& trial = record.trial;
  if (trial.data_parallel > 0) {
    return {{},
            {fmt::format("{} has no trace: its batches pass no stages one after the other; the layout batches has "
                         "their moments",
                         record::printable(trial.label()))}};
  }
  const auto name =
      fmt::format("{}_split_{}_repetition_{}_{}.trace.json", record::model_file_name(trial.model),
                  record::file_name(record::cut_name(trial)), trial.repetition + 1, trial.id().substr(0, 8));
  const auto trace = with_prefix(record::printable(trial.label()) + ": ", [&] { return trace_of(record); });
  return {{{name, trace}}, {}};
}

}  // namespace paretopipe::render
