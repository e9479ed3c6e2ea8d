#pragma once
#include <paretopipe/experiment/trial.hpp>

#include <nlohmann/json.hpp>

namespace paretopipe::render {

/// Adds "split_points", and "codec" and "training" where there are such.
inline void append_cut(nlohmann::ordered_json& json, const experiment::Cut& cut) {
  json["split_points"] = cut.split_points;
  if (cut.codec != codec::kNone) json["codec"] = cut.codec;
  if (!cut.training.empty()) json["training"] = cut.training;
}

/// What the trials of a group have in common.
inline nlohmann::ordered_json settings_of_group(const experiment::Trial& trial) {
  nlohmann::json settings = trial.without_split();
  for (const auto* key : {"split_points", "repetition", "data_parallel", "codec"}) settings.erase(key);
  if (trial.training) settings["training"].erase("schedule");
  return settings;
}

}  // namespace paretopipe::render
