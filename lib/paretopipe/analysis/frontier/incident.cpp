#include <paretopipe/analysis/frontier/incident.hpp>
#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::frontier {

namespace {

constexpr std::string_view kLatencyRun = "latency run";
constexpr std::string_view kThroughputRun = "throughput run";

/// The number of batches by which a phase's warm-up exceeds the requested one.
int lateness(const std::optional<record::PhaseSamples>& phase, const experiment::Trial& trial) {
  return phase ? std::max(0, phase->warmup - trial.warmup) : 0;
}

bool was_late(const Incident& incident) {
  return incident.late_single_stream > 0 || incident.late_offline > 0;
}

void add_late(std::vector<std::string>& phrases, int batches, std::string_view run) {
  if (batches == 0) return;
  phrases.push_back(
      fmt::format("the warm-up of the {} became {} batch{} longer", run, batches, batches == 1 ? "" : "es"));
}

void add_batches(std::vector<std::string>& phrases, const std::vector<int>& batches, std::string_view run) {
  if (batches.empty()) return;
  phrases.push_back(
      fmt::format("batch{} {} of the {}", batches.size() == 1 ? "" : "es", format_number_list(batches), run));
}

void add_outliers(std::vector<std::string>& phrases, const record::Outliers& outliers) {
  std::vector<std::string> batches;
  add_batches(batches, outliers.single_stream, kLatencyRun);
  add_batches(batches, outliers.offline, kThroughputRun);
  if (!batches.empty()) phrases.push_back(fmt::format("outliers: {}", fmt::join(batches, " and ")));
}

/// "1 trial with a longer warm-up", "2 trials …"; nothing for none.
void add_count(std::vector<std::string>& phrases, std::ptrdiff_t count, std::string_view thing, std::string_view rest) {
  if (count > 0) phrases.push_back(fmt::format("{} {}{} {}", count, thing, count == 1 ? "" : "s", rest));
}

}  // namespace

std::optional<Incident> incident_of(const record::TrialRecord& record, bool again) {
  Incident incident{
      .cut = record.trial.cut(), .split = record::split_label(record.trial), .repetition = record.trial.repetition};
  if (again || record.status == record::Status::invalid) {
    incident.consequence = again ? Consequence::measured_again : Consequence::not_counted;
    if (record.failure) incident.reason = record.failure->reason;
    return incident;
  }
  if (record.status != record::Status::ok) return std::nullopt;
  incident.late_single_stream = lateness(record.single_stream, record.trial);
  incident.late_offline = lateness(record.offline, record.trial);
  incident.outliers = record.outliers.value_or(record::Outliers{});
  incident.slow_downs = stats::slow_down_sentences(record);
  incident.disturbances = stats::disturbances(record);
  const bool smooth = !was_late(incident) && incident.outliers.empty() && incident.slow_downs.empty();
  if (smooth && incident.disturbances.empty()) return std::nullopt;
  return incident;
}

bool comes_before(const Incident& left, const Incident& right) {
  return std::tie(left.cut, left.repetition) < std::tie(right.cut, right.repetition);
}

std::string what_happened(const Incident& incident) {
  if (incident.consequence == Consequence::measured_again) return "measured again";
  if (incident.consequence == Consequence::not_counted) return "does not count";
  std::vector<std::string> phrases;
  add_late(phrases, incident.late_single_stream, kLatencyRun);
  add_late(phrases, incident.late_offline, kThroughputRun);
  add_outliers(phrases, incident.outliers);
  phrases.insert(phrases.end(), incident.slow_downs.begin(), incident.slow_downs.end());
  if (phrases.empty()) return "disturbed, and counts all the same";
  return fmt::format("{}", fmt::join(phrases, "; "));
}

std::string summarise(std::span<const Incident> incidents) {
  const auto count = [&](auto holds) { return std::count_if(incidents.begin(), incidents.end(), holds); };
  const auto consequence = [&](Consequence wanted) {
    return count([&](const auto& incident) { return incident.consequence == wanted; });
  };
  std::vector<std::string> phrases;
  add_count(phrases, consequence(Consequence::measured_again), "measurement", "made again");
  add_count(phrases, consequence(Consequence::not_counted), "trial", "not counted");
  add_count(phrases, count([](const auto& incident) { return !incident.disturbances.empty(); }), "trial",
            "disturbed, but counted");
  add_count(phrases, count(was_late), "trial", "with a longer warm-up");
  add_count(phrases, count([](const auto& incident) { return !incident.outliers.empty(); }), "trial", "with outliers");
  add_count(phrases, count([](const auto& incident) { return !incident.slow_downs.empty(); }), "trial",
            "with a stage that became slower");
  return fmt::format("{}", fmt::join(phrases, "; "));
}

}  // namespace paretopipe::frontier
