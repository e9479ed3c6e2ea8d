#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/summary.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::record {

namespace {

constexpr Word<Status> kStatuses[]{{Status::ok, "ok"}, {Status::failed, "failed"}, {Status::invalid, "invalid"}};

/// Throws for a `status` that this release does not know. It must not be read as the enum's first value.
Status parse_status(const std::string& word) {
  if (const auto status = find_word(kStatuses, word)) return *status;
  throw UsageError(fmt::format("the status {} is unknown; known: ok, failed, invalid", nlohmann::json(word).dump()));
}

/// True if the record has samples and summaries for exactly the trial's phases.
bool has_phases_of_trial(const TrialRecord& record) {
  const bool single_stream = experiment::has_single_stream(record.trial.phases);
  const bool offline = experiment::has_offline(record.trial.phases);
  const auto& summary = *record.summary;
  const bool training = record.trial.training.has_value();
  return record.training.has_value() == training && summary.training.has_value() == training &&
         record.fidelity.has_value() != training && record.single_stream.has_value() == single_stream &&
         record.offline.has_value() == offline && summary.latency.has_value() == single_stream &&
         summary.throughput_image_per_s.has_value() == offline && summary.latency_under_load.has_value() == offline;
}

template <class T>
void read_field(const nlohmann::json& json, const char* key, T& value) {
  try {
    json.at(key).get_to(value);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(
        fmt::format("the record's \"{}\" lacks a field or has one of the wrong type ({})", key, reason_of(error)));
  }
}

template <class T>
void read_optional_field(const nlohmann::json& json, const char* key, std::optional<T>& value) {
  value.reset();
  if (json.contains(key)) read_field(json, key, value.emplace());
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Outliers, single_stream, offline)

void to_json(nlohmann::json& json, const SlowDown& slow) {
  json = {{"phase", slow.offline ? "offline" : "single_stream"},
          {"stage", slow.stage},
          {"batch", slow.batch},
          {"before_ns", slow.before_ns},
          {"after_ns", slow.after_ns}};
}

void from_json(const nlohmann::json& json, SlowDown& slow) {
  slow.offline = json.at("phase") == "offline";
  json.at("stage").get_to(slow.stage);
  json.at("batch").get_to(slow.batch);
  json.at("before_ns").get_to(slow.before_ns);
  json.at("after_ns").get_to(slow.after_ns);
}

const std::tuple kPhaseSamplesFields{
    field("warmup", &PhaseSamples::warmup),           field("depth", &PhaseSamples::depth),
    field("stages", &PhaseSamples::stages),           field("results", &PhaseSamples::results),
    field("chunks", &PhaseSamples::micro_batches, 1), field("devices", &PhaseSamples::devices, 1)};

void to_json(nlohmann::json& json, const PhaseSamples& samples) {
  write_fields(json, samples, kPhaseSamplesFields);
}

void from_json(const nlohmann::json& json, PhaseSamples& samples) {
  read_fields(json, samples, kPhaseSamplesFields);
}

bool side_by_side(const TrialRecord& one, const TrialRecord& other) {
  const auto& left = one.provenance.side_by_side;
  const auto& right = other.provenance.side_by_side;
  return left && right && left->pair == right->pair && one.trial == other.trial;
}

std::optional<std::int64_t> clock_error_ns(const TrialRecord& record, int from, int to) {
  const auto one = static_cast<std::size_t>(from), other = static_cast<std::size_t>(to);
  if (std::max(one, other) >= std::min(record.clocks.size(), record.stages.size())) return std::nullopt;
  const auto &sender = record.clocks[one], &receiver = record.clocks[other];
  if (sender.same_clock && receiver.same_clock) return std::nullopt;
  if (host::share_steady_clock(record.stages[one].host, record.stages[other].host)) return std::nullopt;
  return sender.error_bound_ns + receiver.error_bound_ns;
}

std::optional<std::int64_t> clock_error_ns(const TrialRecord& record) {
  std::optional<std::int64_t> largest;  // nothing is less than any number
  for (const auto& link : record.links) largest = std::max(largest, clock_error_ns(record, link.from, link.to));
  return largest;
}

std::string to_string(Status status) {
  return word_of(kStatuses, status);
}

void to_json(nlohmann::json& json, const TrialRecord& record) {
  json = {{"schema", kSchemaVersion},        {"id", record.trial.id()},
          {"trial", record.trial},           {"status", to_string(record.status)},
          {"provenance", record.provenance}, {"stages", record.stages},
          {"clocks", record.clocks},         {"links", record.links}};
  write_optional(json, "failure", record.failure);
  write_optional(json, "network", record.network);
  write_optional(json, "single_stream", record.single_stream);
  write_optional(json, "offline", record.offline);
  write_optional(json, "training", record.training);
  write_optional(json, "outliers", record.outliers);
  if (!record.slow_downs.empty()) json["slow_downs"] = record.slow_downs;
  write_optional(json, "fidelity", record.fidelity);
  write_optional(json, "summary", record.summary);
  write_optional(json, "server", record.server);
}

void from_json(const nlohmann::json& json, TrialRecord& record) {
  check_schema(json, kSchemaVersion, "record");
  read_field(json, "trial", record.trial);
  std::string status;
  read_field(json, "status", status);
  record.status = parse_status(status);
  read_field(json, "provenance", record.provenance);
  read_field(json, "stages", record.stages);
  read_field(json, "clocks", record.clocks);
  read_field(json, "links", record.links);
  read_optional_field(json, "failure", record.failure);
  read_optional_field(json, "network", record.network);
  read_optional_field(json, "single_stream", record.single_stream);
  read_optional_field(json, "offline", record.offline);
  read_optional_field(json, "training", record.training);
  read_optional_field(json, "outliers", record.outliers);
  record.slow_downs.clear();
  if (json.contains("slow_downs")) read_field(json, "slow_downs", record.slow_downs);
  read_optional_field(json, "fidelity", record.fidelity);
  read_optional_field(json, "summary", record.summary);
  read_optional_field(json, "server", record.server);
  if (const auto id = json.value("id", nlohmann::json()); id != record.trial.id()) {
    throw UsageError(
        fmt::format("the record's id {} does not belong to its trial (that would be {}): was it edited by hand?",
                    id.dump(), record.trial.id()));
  }
  const bool complete = record.summary && has_phases_of_trial(record);
  if ((record.status == Status::failed) == complete || (record.status == Status::ok) == record.failure.has_value()) {
    throw UsageError(
        "an ok or invalid record must have samples of its trial's phases, fidelity and a summary of them, and a failed "
        "or invalid one its failure");
  }
  if (record.status != Status::failed && record.server.has_value() != record.trial.server.has_value()) {
    throw UsageError("a record must say what its Server phase measured, and only where its trial has one");
  }
  check_understood(json, record, "record");
}

std::string machine_of(const host::HostContext& host) {
  return fmt::format("{} ({}, {} CPU{})", host.hostname, host.cpu_model.empty() ? host.architecture : host.cpu_model,
                     host.cpu_count, host.cpu_count == 1 ? "" : "s");
}

std::vector<std::string> machines_of(const TrialRecord& record) {
  std::vector<std::string> machines;
  for (const auto& stage : record.stages) {
    auto machine = machine_of(stage.host);
    if (std::find(machines.begin(), machines.end(), machine) == machines.end()) machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace paretopipe::record
