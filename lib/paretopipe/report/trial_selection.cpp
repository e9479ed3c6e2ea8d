#include <paretopipe/core/error.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/trial_selection.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::report {
namespace {

constexpr std::size_t kShown = 20;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool matches(const plan::Trial& trial, const TrialSelection& selection) {
  return trial.id().starts_with(lower_case(selection.id_prefix)) &&
         (!selection.split || split_number(trial) == *selection.split) &&
         (!selection.repetition || trial.repetition + 1 == *selection.repetition) &&
         (!selection.network || trial.network.name == *selection.network);
}

std::string wording(const TrialSelection& selection) {
  std::string text;
  if (!selection.id_prefix.empty()) text += fmt::format(" whose id begins with {}", printable(selection.id_prefix));
  if (selection.split) text += fmt::format(" of split {}", printable(*selection.split));
  if (selection.repetition) text += fmt::format(" of repetition {}", *selection.repetition);
  if (selection.network) text += fmt::format(" over the network {}", printable(*selection.network));
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
    lines.push_back(
        fmt::format("  {}  {}, {}", record.trial.id(), printable(record.trial.label()), to_string(record.status)));
  }
  if (records.size() > kShown) lines.push_back(fmt::format("  and {} more", records.size() - kShown));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace paretopipe::report
