#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/settings.hpp>

namespace paretopipe::experiment {
namespace {

/// Refuses flags that mean nothing without others, or that contradict others.
void check_flags(const GivenFlags& given, const Experiment& experiment) {
  const auto has = [&](const char* key) { return given.contains(key); };
  if (!experiment.repeat.adaptive && (has("repeat.precision") || has("repeat.trials") || has("repeat.budget_s"))) {
    throw UsageError("--precision, --max-repeat and --budget say when --repeat auto ends; add it");
  }
  if (has("server.rates") && has("server.find_max_rate")) {
    throw UsageError("--rate measures at the rates that it names, and --find-max-rate searches one; give one of them");
  }
  const bool loaded = !loads_of(experiment.server).empty();
  const bool server_named = has("phases") && given.at("phases").front().find("server") != std::string::npos;
  if (has("phases") && !server_named && (has("server.rates") || has("server.find_max_rate"))) {
    throw UsageError("--rate and --find-max-rate are for --scenario server");
  }
  if (server_named && !loaded) {
    throw UsageError("--scenario server needs to know how fast images arrive: give --rate, or --find-max-rate");
  }
  if (has("server.queries") && !loaded) {
    throw UsageError("--queries counts the arrivals of --scenario server; give --rate or --find-max-rate, too");
  }
}

}  // namespace

std::string default_of(const Setting& setting) {
  if (!setting.unset.empty()) return setting.unset;
  const auto value = setting.value.write(Experiment{});
  const auto& first = value.is_array() ? value.front() : value;
  return first.is_string() ? first.get<std::string>() : value.dump();
}

void apply_flags(Experiment& experiment, const GivenFlags& given) {
  if (given.contains("splits") && given.contains("partitions")) {
    throw UsageError(
        "--split names the split points of two stages, and --partitions cuts in other ways; give one of them");
  }
  for (const auto& setting : settings()) {
    const auto found = given.find(setting.key);
    if (found == given.end()) continue;
    if (setting.apply) {
      setting.apply(experiment, found->second);
    } else {
      setting.value.read(experiment, setting.value.parse(found->second, setting.flag), setting.path());
    }
  }
  check_flags(given, experiment);
}

}  // namespace paretopipe::experiment
