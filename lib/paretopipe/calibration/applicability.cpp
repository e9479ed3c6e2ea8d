#include <paretopipe/calibration/applicability.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/record/machine.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::calibration {
namespace {

using Records = std::span<const record::TrialRecord>;

void add_once(std::vector<std::string>& items, std::string item) {
  if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(std::move(item));
}

std::vector<std::string> other_machines(const std::string& own, Records records, bool& own_seen) {
  std::vector<std::string> others;
  for (const auto& record : records) {
    for (auto& machine : record::machines_of(record)) {
      if (machine == own) {
        own_seen = true;
      } else {
        add_once(others, std::move(machine));
      }
    }
  }
  return others;
}

void add_machines(std::vector<std::string>& sentences, const DataSheet& sheet, Records records) {
  const auto own = record::machine_of(sheet.conditions.host);
  bool own_seen = false;
  const auto others = other_machines(own, records, own_seen);
  if (others.empty()) return;
  sentences.push_back(
      own_seen ? fmt::format("Trials ran on {}, too: this sheet says nothing of it.", fmt::join(others, ", "))
               : fmt::format("This sheet was made on {}, and the trials ran on {}: it says nothing of them.", own,
                             fmt::join(others, ", ")));
}

/// Lists the changes of a machine that can change an instrument's error.
std::vector<std::string> changes(const host::HostContext& then, const host::HostContext& now) {
  std::vector<std::string> changed;
  const auto add = [&](const char* what, const std::string& before, const std::string& after) {
    if (before != after)
      changed.push_back(fmt::format("{} was {} for the sheet, and {} for trials", what, before, after));
  };
  const auto memory = [](const host::HostContext& host) {
    return format_bytes(static_cast<double>(host.memory_bytes));
  };
  add("kernel", then.kernel, now.kernel);
  add("operating system", then.os, now.os);
  add("memory", memory(then), memory(now));
  add("frequency governor", then.governor.value_or("unknown"), now.governor.value_or("unknown"));
  return changed;
}

void add_changes(std::vector<std::string>& sentences, const DataSheet& sheet, Records records) {
  const auto& own = sheet.conditions.host;
  const auto machine = record::machine_of(own);
  std::vector<std::string> changed;
  for (const auto& record : records) {
    for (const auto& stage : record.stages) {
      if (record::machine_of(stage.host) != machine) continue;
      for (auto& change : changes(own, stage.host)) add_once(changed, std::move(change));
    }
  }
  if (!changed.empty()) sentences.push_back(fmt::format("The machine has changed: {}.", fmt::join(changed, "; ")));
}

void add_version(std::vector<std::string>& sentences, const DataSheet& sheet, Records records) {
  std::vector<std::string> versions;
  for (const auto& record : records) {
    if (!record.provenance.version.empty()) add_once(versions, record.provenance.version);
  }
  const auto& own = sheet.provenance.version;
  if (versions.empty() || std::find(versions.begin(), versions.end(), own) != versions.end()) return;
  sentences.push_back(
      fmt::format("The sheet is of paretopipe {}, and the trials were run by {}.", own, fmt::join(versions, ", ")));
}

}  // namespace

std::vector<std::string> doubts(const DataSheet& sheet, Records records) {
  std::vector<std::string> sentences;
  add_machines(sentences, sheet, records);
  add_changes(sentences, sheet, records);
  add_version(sentences, sheet, records);
  return sentences;
}

}  // namespace paretopipe::calibration
