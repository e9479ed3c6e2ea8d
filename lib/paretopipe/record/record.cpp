#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/record/record.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::record {

void to_json(nlohmann::json& json, const EmulatedDevice& device) {
  json = {{"profile", device.profile}, {"device", device.device}};
  write_optional(json, "cpu_quota", device.cpu_quota);
  write_optional(json, "memory_limit_bytes", device.memory_limit_bytes);
  write_optional(json, "cgroup_version", device.cgroup_version);
}

void from_json(const nlohmann::json& json, EmulatedDevice& device) {
  json.at("profile").get_to(device.profile);
  json.at("device").get_to(device.device);
  read_optional(json, "cpu_quota", device.cpu_quota);
  read_optional(json, "memory_limit_bytes", device.memory_limit_bytes);
  read_optional(json, "cgroup_version", device.cgroup_version);
}

namespace {

/// Throws for a `status` that this release does not know. It must not be read as the enum's first value.
Status parse_status(std::string_view word) {
  for (const auto status : {Status::ok, Status::failed, Status::invalid}) {
    if (word == to_string(status)) return status;
  }
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

void to_json(nlohmann::json& json, const Failure& failure) {
  json = {{"phase", failure.phase}, {"reason", failure.reason}};
  write_optional(json, "stage", failure.stage);
}

void from_json(const nlohmann::json& json, Failure& failure) {
  json.at("phase").get_to(failure.phase);
  json.at("reason").get_to(failure.reason);
  read_optional(json, "stage", failure.stage);
}

void to_json(nlohmann::json& json, const ClockRelation& relation) {
  json = {{"same_clock", relation.same_clock},
          {"offset_before_ns", relation.offset_before_ns},
          {"offset_after_ns", relation.offset_after_ns},
          {"error_bound_ns", relation.error_bound_ns}};
  write_optional(json, "drift_ppm", relation.drift_ppm);
}

void from_json(const nlohmann::json& json, ClockRelation& relation) {
  json.at("same_clock").get_to(relation.same_clock);
  json.at("offset_before_ns").get_to(relation.offset_before_ns);
  json.at("offset_after_ns").get_to(relation.offset_after_ns);
  json.at("error_bound_ns").get_to(relation.error_bound_ns);
  read_optional(json, "drift_ppm", relation.drift_ppm);
}

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

void to_json(nlohmann::json& json, const LinkPayload& link) {
  json = {
      {"from", link.from}, {"to", link.to}, {"payload_bytes", link.payload_bytes}, {"header_bytes", link.header_bytes}};
  write_optional(json, "unencoded_bytes", link.unencoded_bytes);
}

void from_json(const nlohmann::json& json, LinkPayload& link) {
  json.at("from").get_to(link.from);
  json.at("to").get_to(link.to);
  json.at("payload_bytes").get_to(link.payload_bytes);
  json.at("header_bytes").get_to(link.header_bytes);
  read_optional(json, "unencoded_bytes", link.unencoded_bytes);
}

void to_json(nlohmann::json& json, const Fidelity& fidelity) {
  json = {{"max_abs_difference", fidelity.max_abs_difference},
          {"top1_agreement", fidelity.top1_agreement},
          {"batches_compared", fidelity.batches_compared}};
  if (fidelity.tolerance != 0) json["tolerance"] = fidelity.tolerance;
  if (fidelity.lossy_codec) json["lossy_codec"] = true;
  write_optional(json, "mean_abs_difference", fidelity.mean_abs_difference);
  write_optional(json, "max_flips", fidelity.max_flips);
  write_optional(json, "accuracy", fidelity.accuracy);
  write_optional(json, "unsplit_against_eager", fidelity.unsplit_against_eager);
}

void from_json(const nlohmann::json& json, Fidelity& fidelity) {
  json.at("max_abs_difference").get_to(fidelity.max_abs_difference);
  json.at("top1_agreement").get_to(fidelity.top1_agreement);
  json.at("batches_compared").get_to(fidelity.batches_compared);
  fidelity.tolerance = json.value("tolerance", 0.0);
  fidelity.lossy_codec = json.value("lossy_codec", false);
  read_optional(json, "mean_abs_difference", fidelity.mean_abs_difference);
  read_optional(json, "max_flips", fidelity.max_flips);
  read_optional(json, "accuracy", fidelity.accuracy);
  read_optional(json, "unsplit_against_eager", fidelity.unsplit_against_eager);
}

void to_json(nlohmann::json& json, const PhaseSamples& samples) {
  json = {
      {"warmup", samples.warmup}, {"depth", samples.depth}, {"stages", samples.stages}, {"results", samples.results}};
  if (samples.micro_batches != 1) json["chunks"] = samples.micro_batches;
  if (samples.devices != 1) json["devices"] = samples.devices;
}

void from_json(const nlohmann::json& json, PhaseSamples& samples) {
  json.at("warmup").get_to(samples.warmup);
  json.at("depth").get_to(samples.depth);
  json.at("stages").get_to(samples.stages);
  json.at("results").get_to(samples.results);
  samples.micro_batches = json.value("chunks", 1);
  samples.devices = json.value("devices", 1);
}

void to_json(nlohmann::json& json, const Summary& summary) {
  json = nlohmann::json::object();
  if (summary.latency) {
    json["latency"] = *summary.latency;
    json["breakdown"] = summary.breakdown;
    json["links"] = summary.links;
  }
  if (summary.throughput_image_per_s) {
    json["throughput_image_per_s"] = *summary.throughput_image_per_s;
    json["stages"] = summary.stages;
  }
  write_optional(json, "latency_under_load", summary.latency_under_load);
  write_optional(json, "training", summary.training);
}

void from_json(const nlohmann::json& json, Summary& summary) {
  summary = {};
  read_optional(json, "latency", summary.latency);
  read_optional(json, "throughput_image_per_s", summary.throughput_image_per_s);
  read_optional(json, "latency_under_load", summary.latency_under_load);
  read_optional(json, "training", summary.training);
  if (summary.latency) {
    json.at("breakdown").get_to(summary.breakdown);
    json.at("links").get_to(summary.links);
  }
  if (summary.throughput_image_per_s) json.at("stages").get_to(summary.stages);
}

void to_json(nlohmann::json& json, const StageReport& report) {
  json = {{"host", report.host},
          {"state", report.state},
          {"compute", report.compute},
          {"cpus", report.cpus},
          {"blocks", report.blocks},
          {"parameter_bytes", report.parameter_bytes},
          {"held_parameter_bytes", report.held_parameter_bytes},
          {"usage", report.usage}};
  if (!report.last_block.empty()) json["last_block"] = report.last_block;
  write_optional(json, "peak_rss_bytes", report.peak_rss_bytes);
  write_optional(json, "memory", report.memory);
  write_optional(json, "conditions", report.conditions);
  write_optional(json, "gpu", report.gpu);
  write_optional(json, "emulated_device", report.emulated_device);
  write_optional(json, "prepared", report.prepared);
}

void from_json(const nlohmann::json& json, StageReport& report) {
  json.at("host").get_to(report.host);
  json.at("state").get_to(report.state);
  report.compute = json.at("compute");
  json.at("cpus").get_to(report.cpus);
  json.at("blocks").get_to(report.blocks);
  report.last_block = json.value("last_block", "");
  json.at("parameter_bytes").get_to(report.parameter_bytes);
  json.at("held_parameter_bytes").get_to(report.held_parameter_bytes);
  json.at("usage").get_to(report.usage);
  read_optional(json, "peak_rss_bytes", report.peak_rss_bytes);
  read_optional(json, "memory", report.memory);
  read_optional(json, "conditions", report.conditions);
  read_optional(json, "gpu", report.gpu);
  read_optional(json, "emulated_device", report.emulated_device);
  read_optional(json, "prepared", report.prepared);
}

void to_json(nlohmann::json& json, const Provenance& provenance) {
  json = {{"version", provenance.version},
          {"git_state", provenance.git_state},
          {"command_line", provenance.command_line},
          {"started_at", provenance.started_at}};
  if (!provenance.stage_program_sha256.empty()) json["stage_program_sha256"] = provenance.stage_program_sha256;
  write_optional(json, "side_by_side", provenance.side_by_side);
  write_optional(json, "position", provenance.position);
}

void from_json(const nlohmann::json& json, Provenance& provenance) {
  json.at("version").get_to(provenance.version);
  json.at("git_state").get_to(provenance.git_state);
  json.at("command_line").get_to(provenance.command_line);
  json.at("started_at").get_to(provenance.started_at);
  provenance.stage_program_sha256 = json.value("stage_program_sha256", "");
  read_optional(json, "side_by_side", provenance.side_by_side);
  read_optional(json, "position", provenance.position);
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
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::failed:
      return "failed";
    case Status::invalid:
      return "invalid";
  }
  return "";
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
