#include <paretopipe/analysis/stats/aggregate.hpp>
#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/exports.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace paretopipe::render {

namespace {

constexpr std::array kLayouts{
    ExportLayout{"python", "JSON as the Python tool ParetoPipe writes it, one file a split", export_python},
    ExportLayout{"trials", "trials.csv, one row a trial with all its metrics", export_trials},
    ExportLayout{"stages", "stages.csv, one row a stage of a trial with what it used", export_stages},
    ExportLayout{"batches",
                 "batches.csv, one row a batch (cut: a micro-batch) with every moment and part of its latency",
                 export_batches},
    ExportLayout{"load", "load.csv, one row a rate of the Server scenario with its latencies", export_load},
    ExportLayout{"jsonl", "trials.jsonl, one flat JSON object a trial with all its metrics", export_jsonl},
    ExportLayout{"trace", "one trial on a time line, for Perfetto or chrome://tracing", export_trace},
};

}  // namespace

std::span<const ExportLayout> export_layouts() {
  return kLayouts;
}

const ExportLayout& find_export_layout(std::string_view name) {
  const auto* found =
      std::find_if(kLayouts.begin(), kLayouts.end(), [&](const auto& layout) { return layout.name == name; });
  if (found != kLayouts.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& layout : kLayouts) names.push_back(layout.name);
  throw UsageError(fmt::format("\"{}\" is not an export layout; known: {}", name, fmt::join(names, ", ")));
}

namespace {

constexpr std::size_t kShown = 20;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool matches(const experiment::Trial& trial, const TrialSelection& selection) {
  return trial.id().starts_with(lower_case(selection.id_prefix)) &&
         (!selection.split || record::split_number(trial) == *selection.split) &&
         (!selection.repetition || trial.repetition + 1 == *selection.repetition) &&
         (!selection.network || trial.network.name == *selection.network);
}

std::string wording(const TrialSelection& selection) {
  std::string text;
  if (!selection.id_prefix.empty())
    text += fmt::format(" whose id begins with {}", record::printable(selection.id_prefix));
  if (selection.split) text += fmt::format(" of split {}", record::printable(*selection.split));
  if (selection.repetition) text += fmt::format(" of repetition {}", *selection.repetition);
  if (selection.network) text += fmt::format(" over the network {}", record::printable(*selection.network));
  return text;
}

}  // namespace

std::vector<record::TrialRecord> select_trials(std::span<const record::TrialRecord> records,
                                               const TrialSelection& selection) {
  std::vector<record::TrialRecord> selected;
  std::copy_if(records.begin(), records.end(), std::back_inserter(selected),
               [&](const auto& record) { return matches(record.trial, selection); });
  if (selected.empty() && !records.empty()) {
    throw UsageError(fmt::format("there is no trial{}; there are\n{}", wording(selection), describe_trials(records)));
  }
  return selected;
}

std::string describe_trials(std::span<const record::TrialRecord> records) {
  std::vector<std::string> lines;
  for (const auto& record : records.first(std::min(records.size(), kShown))) {
    lines.push_back(fmt::format("  {}  {}, {}", record.trial.id(), record::printable(record.trial.label()),
                                to_string(record.status)));
  }
  if (records.size() > kShown) lines.push_back(fmt::format("  and {} more", records.size() - kShown));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

namespace {

constexpr double kSecond = 1e9;  // nanoseconds
constexpr double kMebibyte = 0x1p20;

/// Sums over all measured batches of all repetitions, in the layout's units.
struct Sums {
  double batches = 0;
  double part1_s = 0;
  double part2_s = 0;
  double network_s = 0;
  double end_to_end_s = 0;
  double bytes = 0;
  double mebibytes_per_s = 0;

  double intervals = 0;  ///< between successive ends of part 2's compute, Offline phase
  double intervals_s = 0;
};

void add_single_stream(Sums& sums, const record::PhaseSamples& samples, std::int64_t payload_bytes) {
  const auto& part1 = samples.stages[0];
  const auto& part2 = samples.stages[1];
  const auto seconds = [](std::int64_t begin, std::int64_t end) { return static_cast<double>(end - begin) / kSecond; };
  for (auto i = static_cast<std::size_t>(samples.warmup); i < part1.compute_begin.size(); ++i) {
    const double network_s = seconds(part2.receive_begin[i], part2.receive_end[i]);
    sums.batches += 1;
    sums.part1_s += seconds(part1.compute_begin[i], part1.compute_end[i]);
    sums.part2_s += seconds(part2.compute_begin[i], part2.compute_end[i]);
    sums.network_s += network_s;
    sums.end_to_end_s += seconds(part1.receive_begin[i], part2.compute_end[i]);
    sums.bytes += static_cast<double>(payload_bytes);
    if (network_s > 0) sums.mebibytes_per_s += static_cast<double>(payload_bytes) / kMebibyte / network_s;
  }
}

void add_offline(Sums& sums, const record::PhaseSamples& samples) {
  const auto& completions = samples.stages[1].compute_end;
  const auto first = static_cast<std::size_t>(samples.warmup);
  sums.intervals += static_cast<double>(completions.size() - first - 1);
  sums.intervals_s += static_cast<double>(completions.back() - completions[first]) / kSecond;
}

std::string to_json(const experiment::Trial& trial, const Sums& sums) {
  const double rate = sums.intervals_s > 0 ? trial.batch * sums.intervals / sums.intervals_s : 0;
  const nlohmann::ordered_json json{
      {"model_name", trial.model},
      {"split_index", trial.split_points.front()},
      {"static_network_delay_ms", static_cast<double>(trial.network.forward.delay.count()) * 1e-6},
      {"system_inference_throughput_imgs_per_s", rate},
      {"average_metrics_per_batch",
       {{"part1_inference_time_s", sums.part1_s / sums.batches},
        {"part2_inference_time_s", sums.part2_s / sums.batches},
        {"network_time_s", sums.network_s / sums.batches},
        {"end_to_end_latency_s", sums.end_to_end_s / sums.batches},
        {"intermediate_data_size_bytes", sums.bytes / sums.batches},
        {"network_throughput_mbps", sums.mebibytes_per_s / sums.batches}}}};
  return json.dump(4, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

/// Why the layout cannot represent this configuration; none if it can.
std::optional<std::string> obstacle(const stats::Configuration& configuration) {
  const auto& trial = configuration.trial;
  if (configuration.ok.empty()) return "has no ok repetition";
  if (trial.phases != experiment::Phases::both) {
    return fmt::format("was measured {}, and the layout has the numbers of both phases",
                       experiment::describe(trial.phases));
  }
  if (trial.data_parallel > 0) return "is not split, and the layout knows two parts";
  if (trial.stage_count() != 2) return "has more than two stages, and the layout knows two parts";
  if (trial.micro_batches() > 1) return "has batches that are cut into micro-batches, and the layout knows whole ones";
  if (trial.codec != codec::kNone) return "crossed the cut with a codec, which the layout cannot say";
  if (trial.all_local()) return "has no network and no part 2, which the layout cannot say";
  return std::nullopt;
}

/// The loops above require samples of two stages, all of one length.
void check(const record::TrialRecord& record) {
  for (const auto* samples : {&*record.single_stream, &*record.offline}) {
    stats::breakdown(*samples);
    if (stats::stage_count(*samples) != 2 || record.links.empty()) {
      throw UsageError(
          fmt::format("the record of {} does not hold two stages and a link", record::printable(record.trial.label())));
    }
  }
}

std::string export_configuration(std::span<const record::TrialRecord> records,
                                 const stats::Configuration& configuration) {
  Sums sums;
  for (const auto index : configuration.ok) {
    const auto& record = records[index];
    check(record);
    add_single_stream(sums, *record.single_stream, record.links.front().payload_bytes);
    add_offline(sums, *record.offline);
  }
  return to_json(configuration.trial, sums);
}

/// A name that tells groups apart: for people by its words, with certainty by their identity.
std::string folder_name(const stats::ConfigurationGroup& group) {
  const auto trial = group.settings().without_split();
  return fmt::format("{}_batch{}_{}", record::model_file_name(trial.model), trial.batch, trial.id().substr(0, 8));
}

}  // namespace

Export export_python(std::span<const record::TrialRecord> records) {
  const auto groups = stats::aggregate(records);
  Export result;
  for (const auto& group : groups) {
    const std::filesystem::path folder = groups.size() == 1 ? "" : folder_name(group);
    for (const auto& configuration : group.configurations) {
      const auto& trial = configuration.trial;
      if (const auto reason = obstacle(configuration)) {
        result.left_out.push_back(
            fmt::format("{} {} {}", record::printable(trial.model), record::split_name(trial), *reason));
        continue;
      }
      const auto name =
          fmt::format("{}_split_{}_metrics.json", record::model_file_name(trial.model), trial.split_points.front());
      result.files.push_back({folder / name, export_configuration(records, configuration)});
    }
  }
  return result;
}

}  // namespace paretopipe::render
