#include <paretopipe/core/error.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/exports.hpp>

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

}  // namespace paretopipe::render
