#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace paretopipe::render {

namespace {

using record::Part;

/// In the order in which a batch passes through them at one stage.
constexpr std::array kParts{Part::transfer, Part::decode, Part::queue, Part::compute, Part::encode, Part::send_queue};

/// `own_clocks`: with a column on clocks, which is only there if a stage had one of its own.
std::vector<std::string> heading(int stages, bool own_clocks) {
  std::vector<std::string> cells{"id",    "model",    "split", "repetition", "status",    "phase",
                                 "depth", "sequence", "chunk", "warmup",     "latency_ns"};
  for (int s = 0; s < stages; ++s) {
    for (const auto part : kParts) {
      cells.push_back(fmt::format("{}_stage{}_ns", nlohmann::json(part).get<std::string>(), s));
    }
  }
  for (int s = 0; s < stages; ++s) {
    for (const auto name : kStageMomentNames) cells.push_back(fmt::format("{}_stage{}_ns", name, s));
  }
  for (const auto name : kResultMomentNames) cells.push_back(fmt::format("result_{}_ns", name));
  if (own_clocks) cells.emplace_back("clock_error_ns");
  return cells;
}

/// The rows of one phase, for a table of `columns` stages.
class PhaseRows {
 public:
  PhaseRows(const record::TrialRecord& record, const record::PhaseSamples& samples, int columns, bool own_clocks)
      : record_(record),
        samples_(samples),
        columns_(columns),
        own_clocks_(own_clocks),
        breakdown_(stats::micro_batch_breakdown(samples)),
        stages_(stats::stage_count(samples)) {}

  std::string text(const char* phase) const {
    std::string text;
    for (std::size_t entry = 0; entry < breakdown_.latency_ns.size(); ++entry) text += row(phase, entry);
    return text;
  }

 private:
  std::string row(const char* phase, std::size_t entry) const {
    const auto& trial = record_.trial;
    const auto micro_batches = static_cast<std::size_t>(samples_.micro_batches);
    const auto batch = entry / micro_batches;
    const bool warmup = batch < static_cast<std::size_t>(samples_.warmup);
    std::vector<std::string> cells({trial.id(), trial.model, record::split_number(trial),
                                    std::to_string(trial.repetition), to_string(record_.status), phase,
                                    std::to_string(samples_.depth), std::to_string(batch),
                                    std::to_string(entry % micro_batches), warmup ? "true" : "false",
                                    std::to_string(breakdown_.latency_ns[entry])});
    append_parts(cells, entry);
    append_moments(cells, entry);
    if (own_clocks_) cells.push_back(csv_cell(record::clock_error_ns(record_)));
    return csv_line(cells);
  }

  /// The cell of a part that this pipeline does not have (a transfer, if all is local) is empty.
  void append_parts(std::vector<std::string>& cells, std::size_t entry) const {
    for (int s = 0; s < columns_; ++s) {
      for (const auto part : kParts) {
        const auto found = std::find_if(breakdown_.parts.begin(), breakdown_.parts.end(),
                                        [&](const auto& series) { return series.part == part && series.stage == s; });
        cells.push_back(found == breakdown_.parts.end() ? "" : std::to_string(found->ns[entry]));
      }
    }
  }

  void append_moments(std::vector<std::string>& cells, std::size_t entry) const {
    for (int s = 0; s < columns_; ++s) {
      for (const auto moment : kStageMoments) {
        cells.push_back(s < stages_ ? std::to_string((samples_.stages[static_cast<std::size_t>(s)].*moment)[entry])
                                    : "");
      }
    }
    for (const auto moment : kResultMoments) cells.push_back(std::to_string((samples_.results.*moment)[entry]));
  }

  const record::TrialRecord& record_;
  const record::PhaseSamples& samples_;
  int columns_;
  bool own_clocks_;
  stats::Breakdown breakdown_;
  int stages_;
};

std::string rows_of(const record::TrialRecord& record, int columns, bool own_clocks) {
  return with_prefix(record::printable(record.trial.label()) + ": ", [&] {
    std::string text;
    if (record.single_stream)
      text += PhaseRows(record, *record.single_stream, columns, own_clocks).text("single_stream");
    if (record.offline) text += PhaseRows(record, *record.offline, columns, own_clocks).text("offline");
    return text;
  });
}

}  // namespace

Export export_batches(std::span<const record::TrialRecord> records) {
  int stages = 0;
  bool own_clocks = false;
  for (const auto& record : records) {
    own_clocks = own_clocks || record::clock_error_ns(record);
    for (const auto* samples : {&record.single_stream, &record.offline}) {
      if (*samples) stages = std::max(stages, stats::stage_count(**samples));
    }
  }
  Export result;
  auto text = csv_line(heading(stages, own_clocks));
  for (const auto& record : records) {
    if (record.single_stream || record.offline) {
      text += rows_of(record, stages, own_clocks);
    } else {
      result.left_out.push_back(fmt::format("{} has no samples", record::printable(record.trial.label())));
    }
  }
  if (stages > 0) result.files.push_back({"batches.csv", std::move(text)});
  return result;
}

namespace {

using record::Distribution;

struct LatencyColumn {
  const char* name;
  double Distribution::*value;
};

constexpr LatencyColumn kLatencies[]{
    {"latency_min_ns", &Distribution::min_ns}, {"latency_mean_ns", &Distribution::mean_ns},
    {"latency_p50_ns", &Distribution::p50_ns}, {"latency_p90_ns", &Distribution::p90_ns},
    {"latency_p95_ns", &Distribution::p95_ns}, {"latency_p99_ns", &Distribution::p99_ns},
    {"latency_max_ns", &Distribution::max_ns}};

std::string heading() {
  std::vector<std::string> cells({"id", "model", "split", "repetition", "status", "batch", "network",
                                  "throughput_image_per_s", "rate_image_per_s", "offered_image_per_s",
                                  "achieved_image_per_s", "saturated", "bound", "kept", "queries"});
  for (const auto& column : kLatencies) cells.emplace_back(column.name);
  cells.emplace_back("source_wait_mean_ns");
  return csv_line(cells);
}

const char* yes_or_no(bool value) {
  return value ? "true" : "false";
}

std::string line(const record::TrialRecord& record, const record::ServerRun& run) {
  const auto& trial = record.trial;
  const auto& summary = run.summary;
  const auto& bound = trial.server->bound;
  std::vector<std::string> cells(
      {trial.id(), trial.model, record::split_number(trial), std::to_string(trial.repetition), to_string(record.status),
       std::to_string(trial.batch), trial.network.name, csv_cell(record.summary->throughput_image_per_s),
       record::format_number(run.rate_image_per_s), record::format_number(summary.offered_image_per_s),
       record::format_number(summary.achieved_image_per_s), yes_or_no(summary.saturated),
       bound ? to_string(*bound) : "", bound ? yes_or_no(stats::keeps(summary, *bound)) : "",
       std::to_string(summary.latency.count)});
  for (const auto& column : kLatencies) cells.push_back(record::format_number(summary.latency.*column.value));
  cells.push_back(record::format_number(summary.source_wait_mean_ns));
  return csv_line(cells);
}

}  // namespace

Export export_load(std::span<const record::TrialRecord> records) {
  Export result;
  std::string text = heading();
  bool any = false;
  for (const auto& record : records) {
    if (!record.server) {
      const auto* why = record.trial.server ? "failed" : "has no Server phase";
      result.left_out.push_back(fmt::format("{} {}", record::printable(record.trial.label()), why));
      continue;
    }
    for (const auto& run : record.server->runs) text += line(record, run);
    any = true;
  }
  if (any) result.files.push_back({"load.csv", std::move(text)});
  return result;
}

}  // namespace paretopipe::render
