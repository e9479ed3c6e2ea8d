#include <paretopipe/report/csv.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/stats/server_summary.hpp>

#include <fmt/format.h>

#include "layouts.hpp"

namespace paretopipe::report {
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
  std::vector<std::string> cells{"id",
                                 "model",
                                 "split",
                                 "repetition",
                                 "status",
                                 "batch",
                                 "network",
                                 "throughput_image_per_s",
                                 "rate_image_per_s",
                                 "offered_image_per_s",
                                 "achieved_image_per_s",
                                 "saturated",
                                 "bound",
                                 "kept",
                                 "queries"};
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
  const auto& throughput = record.summary->throughput_image_per_s;
  std::vector<std::string> cells{trial.id(),
                                 trial.model,
                                 split_number(trial),
                                 std::to_string(trial.repetition),
                                 to_string(record.status),
                                 std::to_string(trial.batch),
                                 trial.network.name,
                                 throughput ? format_number(*throughput) : "",
                                 format_number(run.rate_image_per_s),
                                 format_number(summary.offered_image_per_s),
                                 format_number(summary.achieved_image_per_s),
                                 yes_or_no(summary.saturated),
                                 bound ? to_string(*bound) : "",
                                 bound ? yes_or_no(stats::keeps(summary, *bound)) : "",
                                 std::to_string(summary.latency.count)};
  for (const auto& column : kLatencies) cells.push_back(format_number(summary.latency.*column.value));
  cells.push_back(format_number(summary.source_wait_mean_ns));
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
      result.left_out.push_back(fmt::format("{} {}", printable(record.trial.label()), why));
      continue;
    }
    for (const auto& run : record.server->runs) text += line(record, run);
    any = true;
  }
  if (any) result.files.push_back({"load.csv", std::move(text)});
  return result;
}

}  // namespace paretopipe::report
