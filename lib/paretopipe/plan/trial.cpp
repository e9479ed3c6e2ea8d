#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/plan/trial.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::plan {
namespace {

/// What no plan makes, and nobody could divide by.
void check_micro_batch(const Trial& trial) {
  const int size = trial.micro_batch;
  if (trial.batch >= 1 && (size == 0 || (size > 0 && size < trial.batch && trial.batch % size == 0))) return;
  throw UsageError(fmt::format("a batch of {} cannot be cut into chunks of {}", trial.batch, size));
}

}  // namespace

std::vector<config::BlockRange> Trial::stage_blocks() const {
  std::vector<config::BlockRange> stages;
  int begin = 0;
  for (const int split : split_points) {
    stages.push_back({begin, split});
    begin = split;
  }
  stages.push_back({begin, block_count});
  return stages;
}

std::string Trial::label() const {
  const auto over =
      shaping == config::Shaping::none ? "" : fmt::format(" over {} ({})", network.name, to_string(shaping));
  const auto cut = micro_batch == 0 ? "" : fmt::format(" micro-batch {}", micro_batch);
  const auto how = describe(compute);
  const auto load = server ? fmt::format(" ({})", to_string(*server)) : "";
  return fmt::format("{} split {}/{} batch {}{}{}{}{} repetition {}", model, fmt::join(split_points, ","), block_count,
                     batch, cut, how.empty() ? how : " " + how, over, load, repetition + 1);
}

std::string Trial::id() const {
  // Objects are kept sorted by key, and numbers are written as the shortest text that reads back as the same: one text
  // for one trial. Paths need not be UTF-8; what the record's line will say instead has the same identity.
  return to_hex(fnv1a64(nlohmann::json(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

std::string Trial::configuration_id() const {
  auto trial = *this;
  trial.repetition = 0;
  return trial.id();
}

std::string Trial::group_id() const {
  auto trial = *this;
  trial.repetition = 0;
  std::fill(trial.split_points.begin(), trial.split_points.end(), 0);
  return trial.id();
}

void to_json(nlohmann::json& json, const Trial& trial) {
  json = {{"model", trial.model},
          {"num_classes", trial.num_classes},
          {"block_count", trial.block_count},
          {"split_points", trial.split_points},
          {"batch", trial.batch},
          {"batches", trial.batches},
          {"warmup", trial.warmup},
          {"depth", trial.depth},
          {"repetition", trial.repetition},
          {"seed", trial.seed},
          {"data", trial.data},
          {"threads_per_stage", trial.threads_per_stage},
          {"cpus", trial.cpus},
          {"tuning", trial.tuning}};
  if (trial.archive) {
    json["archive"] = *trial.archive;
    json.erase("num_classes");
  }
  // Trials whose batches are not cut keep the identity that they had before batches could be.
  if (trial.micro_batch != 0) json["micro_batch"] = trial.micro_batch;
  // So do trials without a Server phase.
  if (trial.server) json["server"] = *trial.server;
  // Eager in float32, trials keep the identity that they had before there was a choice.
  config::write_compute_mode(json, trial.compute);
  // Without a file, trials keep the identity that they had before there were files.
  if (!trial.weights_sha256.empty()) json["weights_sha256"] = trial.weights_sha256;
  // The same of the data's files and labels.
  if (!trial.data_identity.sha256.empty()) json["data_sha256"] = trial.data_identity.sha256;
  if (!trial.data_identity.labels.empty()) json["labels"] = trial.data_identity.labels;
  // Trials that nothing shapes keep the identity that they had before there were networks.
  if (trial.shaping == config::Shaping::none && trial.network == config::NetworkProfile{}) return;
  json["network"] = trial.network;
  json["shaping"] = trial.shaping;
}

void from_json(const nlohmann::json& json, Trial& trial) {
  json.at("model").get_to(trial.model);
  read_optional(json, "archive", trial.archive);
  if (!trial.archive) json.at("num_classes").get_to(trial.num_classes);
  json.at("block_count").get_to(trial.block_count);
  json.at("split_points").get_to(trial.split_points);
  json.at("batch").get_to(trial.batch);
  json.at("batches").get_to(trial.batches);
  json.at("warmup").get_to(trial.warmup);
  json.at("depth").get_to(trial.depth);
  json.at("repetition").get_to(trial.repetition);
  json.at("seed").get_to(trial.seed);
  json.at("data").get_to(trial.data);
  json.at("threads_per_stage").get_to(trial.threads_per_stage);
  json.at("cpus").get_to(trial.cpus);
  json.at("tuning").get_to(trial.tuning);
  trial.micro_batch = json.value("micro_batch", 0);
  check_micro_batch(trial);
  trial.compute = config::read_compute_mode(json);
  read_optional(json, "server", trial.server);
  trial.weights_sha256 = json.value("weights_sha256", "");
  trial.data_identity = {json.value("data_sha256", ""), json.value("labels", "")};
  trial.network = json.value("network", config::NetworkProfile{});
  trial.shaping = json.value("shaping", config::Shaping::none);
}

}  // namespace paretopipe::plan
