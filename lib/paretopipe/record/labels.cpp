#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::record {

namespace {

struct UnitNotation {
  std::string_view unit;           ///< as in record::Metric
  std::string_view column_suffix;  ///< for programs
  std::string (*format)(double);   ///< for people
};

constexpr std::array kNotations{
    UnitNotation{"ns", "_ns", format_duration},
    UnitNotation{"B", "_bytes", format_bytes},
    UnitNotation{"B/s", "_byte_per_s", [](double rate) { return format_bytes(rate) + "/s"; }},
    UnitNotation{"image/s", "_image_per_s", [](double rate) { return format_count(rate) + " image/s"; }},
    UnitNotation{"", "", [](double share) { return fmt::format("{:.3g}", share); }},
};

const UnitNotation& notation_of(std::string_view unit) {
  const auto* found = std::find_if(kNotations.begin(), kNotations.end(), [&](const auto& n) { return n.unit == unit; });
  if (found == kNotations.end()) throw std::logic_error(fmt::format("no notation for the unit {}", unit));
  return *found;
}

std::string to_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> items;
  for (const auto& item : value) items.push_back(to_text(item));
  return fmt::format("{}", fmt::join(items, " | "));
}

void append_settings(nlohmann::ordered_json& settings, const std::string& prefix, const nlohmann::json& object) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      append_settings(settings, prefix + name + "_", value);
    } else {
      settings[prefix + name] = value.is_array() ? nlohmann::json(to_text(value)) : value;
    }
  }
}

/// The part of a title that tells a person's own data from others of the same name.
std::string data_text(const experiment::Trial& trial) {
  const auto& [sha256, labels] = trial.data_identity;
  const auto files = sha256.empty() ? "" : fmt::format(" (SHA-256 {:.12})", sha256);
  const auto known = labels.empty() ? "" : fmt::format(", labels {:.12}", labels);
  return fmt::format("{}{}{}", trial.data, files, known);
}

}  // namespace

std::string format_value(double value, std::string_view unit) {
  return notation_of(unit).format(value);
}

std::string quantity(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string format_number(double value) {
  std::array<char, 2048> text;  // the longest double without exponent, a denormal, has 1077 characters
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{}) throw std::logic_error("a number did not fit its buffer");
  return {text.data(), end};
}

nlohmann::ordered_json json_number(double value) {
  const bool whole = std::abs(value) < 0x1p53 && value == std::floor(value);
  return whole ? nlohmann::ordered_json(static_cast<std::int64_t>(value)) : nlohmann::ordered_json(value);
}

std::string column_name(const Metric& metric) {
  return fmt::format("{}{}", metric.name, notation_of(metric.unit).column_suffix);
}

std::string split_number(const experiment::Trial& trial) {
  if (trial.data_parallel > 0) return "data-parallel";
  return fmt::format("{}", fmt::join(trial.split_points, ","));
}

namespace {

/// " sort8" or " 1f1b/8": the codec if there is one, and the way of training.
std::string suffix(const experiment::Trial& trial) {
  auto text = trial.codec == codec::kNone ? "" : fmt::format(" {}", printable(trial.codec));
  if (trial.training) text += fmt::format(" {}", trial.way_of_training());
  return text;
}

}  // namespace

std::string cut_name(const experiment::Trial& trial) {
  return split_number(trial) + suffix(trial);
}

std::string split_label(const experiment::Trial& trial) {
  if (trial.data_parallel > 0) return fmt::format("data-parallel on {} devices{}", trial.data_parallel, suffix(trial));
  const auto* place = trial.all_remote() ? " all remote" : trial.all_local() ? " all local" : "";
  return fmt::format("{}/{}{}{}", split_number(trial), trial.block_count, place, suffix(trial));
}

std::string split_name(const experiment::Trial& trial) {
  return trial.data_parallel > 0 ? split_label(trial) : fmt::format("split {}", split_label(trial));
}

std::string describe(const Failure& failure) {
  return failure.stage ? fmt::format("{}, stage {}: {}", failure.phase, *failure.stage, failure.reason)
                       : fmt::format("{}: {}", failure.phase, failure.reason);
}

std::vector<Setting> flattened(const nlohmann::json& object) {
  auto flat = nlohmann::ordered_json::object();
  append_settings(flat, "", object);
  std::vector<Setting> settings;
  for (const auto& [name, value] : flat.items()) settings.push_back({name, to_text(value)});
  return settings;
}

std::vector<Setting> settings_of(const experiment::Trial& trial) {
  return flattened(flat_settings(trial));
}

/// "unit", "unit of up to 2 tensors".
std::string cuts_text(const experiment::Archive& archive) {
  if (archive.max_crossing == 1) return archive.cuts;
  return fmt::format("{} of up to {} tensors", archive.cuts, archive.max_crossing);
}

/// Uses the same names whether or not the trial has a Server phase.
nlohmann::json server_settings(const experiment::Trial& trial) {
  nlohmann::json json{{"rate", ""}, {"bound", ""}, {"queries", ""}};
  if (!trial.server) return json;
  json["queries"] = trial.server->queries;
  if (trial.server->bound) {
    json["bound"] = to_string(*trial.server->bound);
  } else {
    json["rate"] = trial.server->rate_image_per_s;
  }
  return json;
}

/// "emulated device pi (0.25 CPUs) | none", one per device; empty if none is emulated.
std::string devices_text(const experiment::Trial& trial) {
  std::vector<std::string> devices;
  for (const auto& device : trial.devices) {
    devices.push_back(fmt::format("{}{}", device.emulated() ? "emulated device " : "", describe(device)));
  }
  return fmt::format("{}", fmt::join(devices, " | "));
}

nlohmann::ordered_json flat_settings(const experiment::Trial& trial) {
  nlohmann::json json = trial;
  for (const auto* key : {"model", "split_points", "data_parallel", "repetition"}) json.erase(key);
  // A trial's JSON leaves out what is not shaped or cut, weights from the seed, and the other kinds of model. Here
  // every trial must have the same names.
  if (trial.archive) {
    json["num_classes"] = "";
    json["archive"]["cuts"] = cuts_text(*trial.archive);
    json["archive"].erase("max_crossing");
    json["archive"].erase("trained");  // so is every model that is trained
    json["archive"]["input_shape"] = fmt::format("{}", fmt::join(trial.archive->input_shape, "x"));
  } else {
    json["archive"] = {{"sha256", ""}, {"input_shape", ""}, {"cuts", ""}};
  }
  const auto text = [](const experiment::LinkConditions& conditions) {
    return conditions.shaped() ? nlohmann::json(conditions).dump() : "";
  };
  json["network"] = {{"name", trial.network.name},
                     {"forward", text(trial.network.forward)},
                     {"backward", text(trial.network.backward)}};
  json["shaping"] = trial.shaping;
  json["codec"] = trial.codec;
  json["max_flips"] = trial.max_flips ? nlohmann::json(*trial.max_flips) : nlohmann::json("");
  json["micro_batch"] = trial.images_per_micro_batch();
  json["phases"] = trial.phases;
  json["weights_sha256"] = trial.weights_sha256;
  json["compute"] = to_string(trial.compute.compute);
  json["dtype"] = to_string(trial.compute.dtype);
  json["memory_format"] = to_string(trial.compute.memory_format);
  json["data_sha256"] = trial.data_identity.sha256;
  json["labels"] = trial.data_identity.labels;
  json["server"] = server_settings(trial);
  json.erase("training");
  json["schedule"] = trial.training ? to_string(trial.training->schedule) : "";
  json["recompute"] = trial.training && trial.training->recompute;
  json["optimizer"] = trial.training ? describe(trial.training->optimizer) : "";
  if (trial.training && trial.training->loss_sum)
    json["optimizer"] = describe(trial.training->optimizer) + ", losses summed";
  json["devices"] = devices_text(trial);
  json["placement"] = experiment::to_string(trial.placement);
  json["compute_devices"] = fmt::format("{}", fmt::join(trial.compute_devices, ","));
  json["link"] = to_string(trial.encryption);
  json["on"] = trial.on;
  json["stage_threads"] = trial.stage_threads;
  auto settings = nlohmann::ordered_json::object();
  append_settings(settings, "", json);
  return settings;
}

/// "depth 4", "depth 4, offline only", "single-stream only": that phase alone has no use for a depth.
std::string load_text(const experiment::Trial& trial) {
  const auto only = experiment::describe(trial.phases);
  if (!experiment::has_offline(trial.phases) && !trial.server) return only;
  return fmt::format("depth {}{}{}", trial.depth, only.empty() ? "" : ", ", only);
}

std::string group_title(const experiment::Trial& trial) {
  // The part that tells an archive from another of the same name; the whole SHA-256 would drown the rest.
  const auto archive = trial.archive ? fmt::format(" (cuts {}, SHA-256 {:.12}, input {})", cuts_text(*trial.archive),
                                                   trial.archive->sha256, fmt::join(trial.archive->input_shape, "x"))
                                     : "";
  const bool cuts = trial.micro_batch != 0 && !trial.training;
  const auto cut = cuts ? fmt::format(", micro-batch {}", trial.micro_batch) : "";
  auto title =
      fmt::format("{}{}, batch {}{}, {}, {} thread{} per stage, {}", trial.model, archive, trial.batch, cut,
                  load_text(trial), trial.threads_per_stage, trial.threads_per_stage == 1 ? "" : "s", data_text(trial));
  if (trial.shaping != experiment::Shaping::none) {
    title += fmt::format(", over {} ({}: {})", trial.network.name, to_string(trial.shaping), describe(trial.network));
  }
  if (!trial.devices.empty()) title += fmt::format(", {}", devices_text(trial));
  if (trial.server) title += fmt::format(", {}", to_string(*trial.server));
  if (!trial.weights_sha256.empty()) title += fmt::format(", weights {}", trial.weights_sha256.substr(0, 12));
  std::map<std::string, std::string> defaults;
  for (auto& [name, value] : settings_of(experiment::Trial{})) defaults.emplace(name, value);
  for (const auto& [name, value] : settings_of(trial)) {
    const auto shown = {
        "batch",         "block_count", "codec",  "data",      "data_sha256", "depth",   "devices",
        "labels",        "micro_batch", "phases", "recompute", "schedule",    "shaping", "threads_per_stage",
        "weights_sha256"};
    if (name.starts_with("archive_") || name.starts_with("network_") || name.starts_with("server_")) continue;
    if (value.empty() || value == defaults[name]) continue;
    if (std::find(shown.begin(), shown.end(), name) == shown.end()) title += fmt::format(", {} {}", name, value);
  }
  return title;
}

std::string printable(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return result;
}

std::string file_name(std::string_view text) {
  const auto foreign = [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-' && c != '.'; };
  std::string name(text);
  std::replace_if(name.begin(), name.end(), foreign, '_');
  return name;
}

std::string model_file_name(std::string_view model) {
  return file_name(model.substr(0, 64));
}

}  // namespace paretopipe::record
