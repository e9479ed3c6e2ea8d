#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/experiment/settings.hpp>
#include <paretopipe/experiment/trial.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

/// The stages of the pipelines that the trial is compared with. Replicas may be fewer: one per device, which stages may
/// share.
int stages_beside(const Trial& trial) {
  const bool replicas = trial.data_parallel > 0 && trial.training && !trial.placement.empty();
  return replicas ? static_cast<int>(trial.placement.size()) : trial.stage_count();
}

/// Refuses values that no plan makes and that would break divisions.
void check_micro_batch(const Trial& trial) {
  const int size = trial.micro_batch;
  if (trial.batch >= 1 && (size == 0 || (size > 0 && size < trial.batch && trial.batch % size == 0))) return;
  throw UsageError(fmt::format("a batch of {} cannot be cut into micro-batches of {}", trial.batch, size));
}

/// Either the model is split, or batches are dealt out to no more devices than a pipeline may have stages.
void check_split(const Trial& trial) {
  const int devices = trial.data_parallel;
  if (devices == 0 ? !trial.split_points.empty() : devices >= 2 && devices <= kMostStages && trial.split_points.empty())
    return;
  throw UsageError(fmt::format("a trial cannot have {} split points and deal batches out to {} devices",
                               trial.split_points.size(), devices));
}

/// A search begins at the throughput of the Offline phase, so it needs that phase.
void check_search(const Trial& trial) {
  if (!trial.server || !trial.server->bound || has_offline(trial.phases)) return;
  throw UsageError("a trial cannot search its highest rate without the phase offline, whose throughput it begins at");
}

void check_training(const Trial& trial) {
  if (trial.training.has_value() == (trial.phases == Phases::training)) return;
  throw UsageError("a trial's phases are training if and only if it says how it trains");
}

/// Refuses values that no plan makes and that would break look-ups.
void check_devices(const Trial& trial) {
  check_placement(trial.placement, stages_beside(trial));
  const auto devices = static_cast<std::size_t>(device_count(trial.placement, trial.stage_count()));
  if (trial.devices.empty() || trial.devices.size() == devices) return;
  throw UsageError(fmt::format("{} device profiles do not belong to {} devices", trial.devices.size(), devices));
}

void check_compute_devices(const Trial& trial) {
  const auto count = trial.compute_devices.size();
  for (const auto& device : trial.compute_devices) parse_compute_device(device);
  if (count == 0 || count == static_cast<std::size_t>(trial.stage_count())) return;
  throw UsageError(fmt::format("{} compute devices do not belong to {} stages", count, trial.stage_count()));
}

void check_devices_of_stages(const Trial& trial) {
  const int stages = stages_beside(trial);
  for (const auto count : {trial.on.size(), trial.stage_threads.size()}) {
    if (count == 0 || count == static_cast<std::size_t>(stages)) continue;
    throw UsageError(fmt::format("{} devices do not belong to {} stages", count, stages));
  }
}

/// " on pi, server placed 0,1,0 computing on cpu, cuda:0"; empty if every stage has a device of its own that is not
/// emulated, and computes on its CPU.
std::string place_of(const Trial& trial) {
  std::vector<std::string> names;
  for (const auto& device : trial.devices) names.push_back(device.name);
  auto place = names.empty() ? "" : fmt::format(" on {}", fmt::join(names, ", "));
  if (!trial.on.empty()) {
    place = fmt::format(" on {}{}", fmt::join(trial.on, ", "),
                        names.empty() ? "" : fmt::format(" as {}", fmt::join(names, ", ")));
  } else if (!trial.placement.empty())
    place += fmt::format(" placed {}", to_string(trial.placement));
  if (!trial.compute_devices.empty()) place += fmt::format(" computing on {}", fmt::join(trial.compute_devices, ", "));
  return place;
}

}  // namespace

std::vector<BlockRange> Trial::stage_blocks() const {
  if (data_parallel > 0) return {static_cast<std::size_t>(data_parallel), {0, block_count}};
  std::vector<BlockRange> stages;
  int begin = 0;
  for (const int split : split_points) {
    stages.push_back({begin, split});
    begin = split;
  }
  stages.push_back({begin, block_count});
  return stages;
}

bool Trial::all_remote() const {
  if (data_parallel > 0) return false;
  const auto farthest = static_cast<std::size_t>(farthest_stage(placement, stage_count()));
  return device_of(placement, static_cast<int>(farthest)) > 0 && stage_blocks()[farthest] == BlockRange{0, block_count};
}

DeviceProfile UncutTrial::device_profile(int stage) const {
  return devices.empty() ? DeviceProfile{} : devices.at(static_cast<std::size_t>(device_of(placement, stage)));
}

int UncutTrial::threads_of(int stage) const {
  const int own = stage_threads.empty() ? 0 : stage_threads.at(static_cast<std::size_t>(stage));
  return own > 0 ? own : device_profile(stage).threads.value_or(threads_per_stage);
}

std::string Trial::way_of_training() const {
  if (!training) return "";
  return fmt::format("{}/{}{}", to_string(training->schedule), images_per_micro_batch(),
                     training->recompute ? "+recompute" : "");
}

double Trial::relative_tolerance(Cpus cpus_used) const {
  if (cpus_used == Cpus::of_several_kinds) return compute.tolerance_across_cpus();
  auto mode = compute;
  if (!compute_devices.empty()) mode.compute = Compute::optimized;
  return mode.relative_tolerance();
}

std::string Trial::label() const {
  const auto over = shaping == Shaping::none ? "" : fmt::format(" over {} ({})", network.name, to_string(shaping));
  const auto cut = micro_batch == 0 ? "" : fmt::format(" micro-batch {}", micro_batch);
  const auto encoded = codec == codec::kNone ? "" : fmt::format(" codec {}", codec);
  const auto how = describe(compute);
  const auto only = phases == Phases::both ? "" : fmt::format(" {}", describe(phases));
  const auto trained = training ? fmt::format(" ({})", describe(*training)) : "";
  const auto load = server ? fmt::format(" ({})", to_string(*server)) : "";
  const auto where = data_parallel > 0 ? fmt::format("data-parallel on {} devices", data_parallel)
                                       : fmt::format("split {}/{}", fmt::join(split_points, ","), block_count);
  return fmt::format("{} {} batch {}{}{}{}{}{}{}{}{} repetition {}", model, where, batch, cut, encoded,
                     how.empty() ? how : " " + how, place_of(*this), over, only, trained, load, repetition + 1);
}

std::string Trial::id() const {
  // Objects are sorted by key, and numbers are written as the shortest text that reads back as the same number: one
  // text per trial. Paths need not be UTF-8; the identity is that of the text in the record's line.
  return to_hex(fnv1a64(nlohmann::json(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

std::string Trial::configuration_id() const {
  auto trial = *this;
  trial.repetition = 0;
  return trial.id();
}

Trial Trial::without_split() const {
  auto trial = *this;
  trial.repetition = 0;
  trial.split_points.assign(static_cast<std::size_t>(stages_beside(*this)) - 1, 0);
  trial.data_parallel = 0;
  trial.codec = codec::kNone;
  if (trial.training) {
    trial.training = Training{.optimizer = trial.training->optimizer, .loss_sum = trial.training->loss_sum};
    trial.micro_batch = 0;
  }
  return trial;
}

std::string Trial::group_id() const {
  return without_split().id();
}

void to_json(nlohmann::json& json, const Trial& trial) {
  json = {{"model", trial.model},
          {"block_count", trial.block_count},
          {"split_points", trial.split_points},
          {"repetition", trial.repetition},
          {"data", trial.data},
          {"tuning", trial.tuning}};
  for (const auto& setting : settings()) {
    if (setting.trial.write) setting.trial.write(trial, json);
  }
  if (trial.archive) json["archive"] = *trial.archive;
  // A trial leaves out each of the following settings that is at its default: it keeps the identity from before the
  // setting existed.
  if (trial.micro_batch != 0) json["micro_batch"] = trial.micro_batch;
  if (trial.data_parallel != 0) json["data_parallel"] = trial.data_parallel;
  if (trial.server) json["server"] = *trial.server;
  if (trial.training) json["training"] = *trial.training;
  write_compute_mode(json, trial.compute);
  if (!trial.weights_sha256.empty()) json["weights_sha256"] = trial.weights_sha256;
  if (!trial.data_identity.sha256.empty()) json["data_sha256"] = trial.data_identity.sha256;
  if (!trial.data_identity.labels.empty()) json["labels"] = trial.data_identity.labels;
  if (!trial.placement.empty()) json["placement"] = trial.placement;
  if (!trial.devices.empty()) json["devices"] = trial.devices;
  if (!trial.compute_devices.empty()) json["compute_devices"] = trial.compute_devices;
  if (!trial.stage_threads.empty()) json["stage_threads"] = trial.stage_threads;
  // A trial without shaping leaves both of these out, too.
  if (trial.shaping == Shaping::none && trial.network == NetworkProfile{}) return;
  json["network"] = trial.network;
  json["shaping"] = trial.shaping;
}

void from_json(const nlohmann::json& json, Trial& trial) {
  json.at("model").get_to(trial.model);
  json.at("block_count").get_to(trial.block_count);
  json.at("split_points").get_to(trial.split_points);
  json.at("repetition").get_to(trial.repetition);
  json.at("data").get_to(trial.data);
  json.at("tuning").get_to(trial.tuning);
  for (const auto& setting : settings()) {
    if (setting.trial.read) setting.trial.read(json, trial);
  }
  read_optional(json, "archive", trial.archive);
  trial.micro_batch = json.value("micro_batch", 0);
  check_micro_batch(trial);
  trial.data_parallel = json.value("data_parallel", 0);
  check_split(trial);
  trial.compute = read_compute_mode(json);
  read_optional(json, "server", trial.server);
  check_search(trial);
  read_optional(json, "training", trial.training);
  check_training(trial);
  trial.weights_sha256 = json.value("weights_sha256", "");
  trial.data_identity = {json.value("data_sha256", ""), json.value("labels", "")};
  trial.network = json.value("network", NetworkProfile{});
  trial.shaping = json.value("shaping", Shaping::none);
  trial.placement = json.value("placement", Placement{});
  trial.devices = json.value("devices", std::vector<DeviceProfile>{});
  check_devices(trial);
  trial.compute_devices = json.value("compute_devices", std::vector<std::string>{});
  check_compute_devices(trial);
  trial.stage_threads = json.value("stage_threads", std::vector<int>{});
  check_devices_of_stages(trial);
}

}  // namespace paretopipe::experiment
