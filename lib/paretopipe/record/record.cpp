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

}  // namespace

void to_json(nlohmann::json& json, Status status) {
  json = to_string(status);
}

/// Throws for a status that this release does not know. It must not be read as the enum's first value.
void from_json(const nlohmann::json& json, Status& status) {
  const auto known = find_word(kStatuses, json.get<std::string>());
  if (!known) throw UsageError(fmt::format("the status {} is unknown; known: ok, failed, invalid", json.dump()));
  status = *known;
}

PARETOPIPE_JSON(Outliers, single_stream, offline)

const std::tuple kSlowDownFields{field("stage", &SlowDown::stage), field("batch", &SlowDown::batch),
                                 field("before_ns", &SlowDown::before_ns), field("after_ns", &SlowDown::after_ns)};

void to_json(nlohmann::json& json, const SlowDown& slow) {
  write_fields(json, slow, kSlowDownFields);
  json["phase"] = slow.offline ? "offline" : "single_stream";
}

void from_json(const nlohmann::json& json, SlowDown& slow) {
  slow.offline = json.at("phase") == "offline";
  read_fields(json, slow, kSlowDownFields);
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
  std::optional<std::int64_t> largest;  // none is less than any number
  for (const auto& link : record.links) largest = std::max(largest, clock_error_ns(record, link.from, link.to));
  return largest;
}

std::string to_string(Status status) {
  return word_of(kStatuses, status);
}

namespace {

/// All but the schema and the id, in the order in which they are read.
const std::tuple kRecordFields{field("trial", &TrialRecord::trial),
                               field("status", &TrialRecord::status),
                               field("provenance", &TrialRecord::provenance),
                               field("stages", &TrialRecord::stages),
                               field("clocks", &TrialRecord::clocks),
                               field("links", &TrialRecord::links),
                               field("failure", &TrialRecord::failure),
                               field("network", &TrialRecord::network),
                               field("single_stream", &TrialRecord::single_stream),
                               field("offline", &TrialRecord::offline),
                               field("training", &TrialRecord::training),
                               field("outliers", &TrialRecord::outliers),
                               field("slow_downs", &TrialRecord::slow_downs, std::vector<SlowDown>{}),
                               field("fidelity", &TrialRecord::fidelity),
                               field("summary", &TrialRecord::summary),
                               field("server", &TrialRecord::server)};

/// Reads the fields one by one, so that an error can name the field.
void read_record_fields(const nlohmann::json& json, TrialRecord& record) {
  const auto read = [&](const auto& one) {
    try {
      read_fields(json, record, std::tuple(one));
    } catch (const nlohmann::json::exception& error) {
      throw UsageError(fmt::format("the record's \"{}\" lacks a field or has one of the wrong type ({})", one.key,
                                   reason_of(error)));
    }
  };
  std::apply([&](const auto&... each) { (read(each), ...); }, kRecordFields);
}

}  // namespace

void to_json(nlohmann::json& json, const TrialRecord& record) {
  write_fields(json, record, kRecordFields);
  json["schema"] = kSchemaVersion;
  json["id"] = record.trial.id();
}

void from_json(const nlohmann::json& json, TrialRecord& record) {
  check_schema(json, kSchemaVersion, "record");
  read_record_fields(json, record);
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
  for (const auto& stage : record.stages) add_once(machines, machine_of(stage.host));
  return machines;
}

}  // namespace paretopipe::record
