#include <paretopipe/record/labels.hpp>
#include <paretopipe/record/metric.hpp>
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paretopipe::render {

namespace {

/// The column on clocks is only there if a stage had one of its own.
bool have_clocks_of_their_own(std::span<const record::TrialRecord> records) {
  return std::any_of(records.begin(), records.end(),
                     [](const auto& record) { return record::clock_error_ns(record).has_value(); });
}

std::string heading(const record::TrialRecord& record, bool own_clocks) {
  std::vector<std::string> cells{"id", "model", "split", "repetition", "status", "failure", "started_at", "position"};
  for (const auto& metric : record::metrics()) cells.push_back(record::column_name(metric));
  for (const auto& setting : record::settings_of(record.trial)) cells.push_back(setting.name);
  if (own_clocks) cells.push_back("clock_error_ns");
  return csv_line(cells);
}

std::string trial_line(const record::TrialRecord& record, bool own_clocks) {
  const auto& trial = record.trial;
  const auto& position = record.provenance.position;
  std::vector<std::string> cells({trial.id(), trial.model, record::split_number(trial),
                                  std::to_string(trial.repetition), to_string(record.status),
                                  record.failure ? record::describe(*record.failure) : "", record.provenance.started_at,
                                  position ? std::to_string(*position) : ""});
  for (const auto& metric : record::metrics()) cells.push_back(csv_cell(metric.value(record)));
  for (const auto& setting : record::settings_of(trial)) cells.push_back(setting.value);
  if (own_clocks) cells.push_back(csv_cell(record::clock_error_ns(record)));
  return csv_line(cells);
}

}  // namespace

Export export_trials(std::span<const record::TrialRecord> records) {
  if (records.empty()) return {};
  const bool own_clocks = have_clocks_of_their_own(records);
  std::string text = heading(records.front(), own_clocks);
  for (const auto& record : records) text += trial_line(record, own_clocks);
  return {{{"trials.csv", std::move(text)}}, {}};
}

namespace {

using Json = nlohmann::ordered_json;

Json object_of(const record::TrialRecord& record) {
  const auto& trial = record.trial;
  Json json{{"id", trial.id()},
            {"model", trial.model},
            {"split", record::split_number(trial)},
            {"repetition", trial.repetition},
            {"status", to_string(record.status)}};
  if (record.failure) json["failure"] = record::describe(*record.failure);
  if (!record.provenance.started_at.empty()) json["started_at"] = record.provenance.started_at;
  if (record.provenance.position) json["position"] = *record.provenance.position;
  for (const auto& metric : record::metrics()) {
    if (const auto value = metric.value(record)) json[record::column_name(metric)] = record::json_number(*value);
  }
  if (const auto error = record::clock_error_ns(record)) json["clock_error_ns"] = *error;
  json.update(record::flat_settings(trial));
  return json;
}

}  // namespace

Export export_jsonl(std::span<const record::TrialRecord> records) {
  if (records.empty()) return {};
  std::string text;
  for (const auto& record : records)
    text += object_of(record).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  return {{{"trials.jsonl", std::move(text)}}, {}};
}

namespace {

struct Column {
  const char* name;
  std::optional<std::int64_t> (*value)(const record::StageReport&);
};

template <auto Field>
std::optional<std::int64_t> usage(const record::StageReport& stage) {
  return stage.usage.*Field;
}

template <auto Field>
std::optional<std::int64_t> condition(const record::StageReport& stage) {
  if (!stage.conditions) return std::nullopt;
  return (*stage.conditions).*Field;
}

template <auto Field>
std::optional<std::int64_t> cpu_time(const record::StageReport& stage) {
  if (!stage.conditions || !stage.conditions->time) return std::nullopt;
  return (*stage.conditions->time).*Field;
}

using Stage = record::StageReport;
using Usage = host::ProcessUsage;
using Conditions = host::CpuConditions;

template <std::int64_t host::StageMemory::*Field>
std::optional<std::int64_t> memory(const Stage& stage) {
  return stage.memory ? std::optional((*stage.memory).*Field) : std::nullopt;
}

/// A stage's resource use and the condition of its CPUs, over both phases. The limits that the kernel reported follow.
constexpr std::array kStageColumns{
    Column{"blocks_begin", [](const Stage& stage) { return std::optional<std::int64_t>(stage.blocks.begin); }},
    Column{"blocks_end", [](const Stage& stage) { return std::optional<std::int64_t>(stage.blocks.end); }},
    Column{"parameter_bytes", [](const Stage& stage) { return std::optional(stage.parameter_bytes); }},
    Column{"held_parameter_bytes", [](const Stage& stage) { return std::optional(stage.held_parameter_bytes); }},
    Column{"weights_bytes", memory<&host::StageMemory::weights_bytes>},
    Column{"prepared_bytes", memory<&host::StageMemory::prepared_bytes>},
    Column{"tensors_bytes", memory<&host::StageMemory::tensors_bytes>},
    Column{"peak_rss_bytes", [](const Stage& stage) { return stage.peak_rss_bytes; }},
    Column{"user_time_ns", usage<&Usage::user_time_ns>},
    Column{"system_time_ns", usage<&Usage::system_time_ns>},
    Column{"voluntary_context_switches", usage<&Usage::voluntary_context_switches>},
    Column{"involuntary_context_switches", usage<&Usage::involuntary_context_switches>},
    Column{"minor_page_faults", usage<&Usage::minor_page_faults>},
    Column{"major_page_faults", usage<&Usage::major_page_faults>},
    Column{"cpus_wall_ns", cpu_time<&host::CpuTime::wall_ns>},
    Column{"cpus_busy_ns", cpu_time<&host::CpuTime::busy_ns>},
    Column{"cpus_stolen_ns", cpu_time<&host::CpuTime::stolen_ns>},
    Column{"frequency_before_hz", condition<&Conditions::frequency_before_hz>},
    Column{"frequency_after_hz", condition<&Conditions::frequency_after_hz>},
    Column{"probe_before_ns", condition<&Conditions::probe_before_ns>},
    Column{"probe_after_ns", condition<&Conditions::probe_after_ns>},
};

constexpr std::array kStepPartColumns{"step_forward_ns", "step_backward_ns", "step_update_ns", "step_all_reduce_ns",
                                      "step_encode_ns",  "step_transfer_ns", "step_decode_ns", "step_waiting_ns"};
static_assert(kStepPartColumns.size() == record::kStepParts.size());

std::string stages_heading(const record::TrialRecord& record) {
  std::vector<std::string> cells{"id", "model", "split", "repetition", "status", "stage", "hostname", "cpus"};
  for (const auto& column : kStageColumns) cells.emplace_back(column.name);
  for (const auto* name : {"compute_p50_ns", "utilisation", "bubble"}) cells.emplace_back(name);
  for (const auto* part : kStepPartColumns) cells.emplace_back(part);
  for (const auto* name : {"gpu_utilisation", "emulated_device", "cpu_quota", "memory_limit_bytes"})
    cells.emplace_back(name);
  for (const auto* name :
       {"temperature_before_celsius", "temperature_after_celsius", "throttled_before", "throttled_after"}) {
    cells.emplace_back(name);
  }
  for (const auto& setting : record::settings_of(record.trial)) cells.push_back("trial_" + setting.name);
  return csv_line(cells);
}

void append_busy_time(std::vector<std::string>& cells, const record::Summary& summary, std::size_t stage) {
  const auto append = [&](std::optional<double> value) { cells.push_back(csv_cell(value)); };
  std::optional<record::StageUtilisation> phase;
  if (stage < summary.stages.size()) phase = summary.stages[stage];
  std::optional<record::StepParts> step;
  if (summary.training && stage < summary.training->stages.size()) step = summary.training->stages[stage];
  append(phase ? std::optional(phase->compute_p50_ns) : std::nullopt);
  append(phase ? std::optional(phase->utilisation) : step ? std::optional(step->utilisation()) : std::nullopt);
  append(phase ? std::optional(phase->bubble) : step ? std::optional(1 - step->utilisation()) : std::nullopt);
  for (const auto part : record::kStepParts) append(step ? std::optional((*step).*part) : std::nullopt);
}

std::string stage_line(const record::TrialRecord& record, std::size_t index) {
  const auto& trial = record.trial;
  const auto& stage = record.stages[index];
  std::vector<std::string> cells({trial.id(), trial.model, record::split_number(trial),
                                  std::to_string(trial.repetition), to_string(record.status), std::to_string(index),
                                  stage.host.hostname, stage.cpus});
  for (const auto& column : kStageColumns) cells.push_back(csv_cell(column.value(stage)));
  append_busy_time(cells, record.summary.value_or(record::Summary{}), index);
  cells.push_back(stage.gpu ? record::format_number(stage.gpu->utilisation) : "");
  const auto device = stage.emulated_device.value_or(record::EmulatedDevice{});
  cells.push_back(device.profile);
  cells.push_back(csv_cell(device.cpu_quota));
  cells.push_back(csv_cell(device.memory_limit_bytes));
  const auto conditions = stage.conditions.value_or(Conditions{});
  for (const auto& celsius : {conditions.temperature_before_celsius, conditions.temperature_after_celsius})
    cells.push_back(csv_cell(celsius));
  for (const auto& bits : {conditions.throttled_before, conditions.throttled_after})
    cells.push_back(bits ? fmt::format("{:#x}", *bits) : "");
  for (const auto& setting : record::settings_of(trial)) cells.push_back(setting.value);
  return csv_line(cells);
}

}  // namespace

Export export_stages(std::span<const record::TrialRecord> records) {
  std::string text;
  for (const auto& record : records) {
    for (std::size_t stage = 0; stage < record.stages.size(); ++stage) {
      if (text.empty()) text = stages_heading(record);
      text += stage_line(record, stage);
    }
  }
  if (text.empty()) return {};
  return {{{"stages.csv", std::move(text)}}, {}};
}

}  // namespace paretopipe::render
