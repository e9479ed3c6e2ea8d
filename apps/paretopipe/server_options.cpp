#include "server_options.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace paretopipe::cli {
namespace {

/// The scenarios that --scenario names.
struct Scenarios {
  bool single_stream = false;
  bool offline = false;
  bool server = false;

  /// If only a Server phase is named, both other phases run before it.
  experiment::Phases phases() const {
    if (single_stream == offline) return experiment::Phases::both;
    return offline ? experiment::Phases::offline : experiment::Phases::single_stream;
  }
};

Scenarios parse_scenarios(const std::string& text) {
  const std::vector<std::string> known{"single-stream", "offline", "server"};
  Scenarios scenarios;
  for (const auto& word : split_at_commas(text)) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError(
          fmt::format("--scenario is \"{}\"; it must be single-stream, offline or server, or a list of them{}", text,
                      did_you_mean(word, known)));
    }
    scenarios.single_stream |= word == "single-stream";
    scenarios.offline |= word == "offline";
    scenarios.server |= word == "server";
  }
  return scenarios;
}

std::vector<double> parse_rates(const std::string& text) {
  std::vector<double> rates;
  try {
    for (const auto& word : split_at_commas(text)) rates.push_back(parse_count(word));
  } catch (const UsageError&) {
    throw UsageError(
        fmt::format("--rate is \"{}\"; it must be a number of images per second, or a list such as 10,20,40", text));
  }
  return rates;
}

}  // namespace

void add_server_options(CLI::App& command, ServerOptions& options) {
  const std::string group = "Under which load";
  command
      .add_option(
          "--scenario", options.scenario,
          "What a trial measures: single-stream (latency, one batch in flight), offline (throughput, --depth in "
          "flight), or a list; server: arrivals by chance, too (single-stream,offline)")
      ->group(group);
  command.add_option("--rate", options.rates, "server: images that arrive per second, or a list such as 10,20,40")
      ->group(group);
  command
      .add_option("--find-max-rate", options.find_max_rate,
                  "server: search the highest rate that keeps a bound on latency, such as 'p99 < 100ms'")
      ->group(group);
  command.add_option("--queries", options.queries, "server: measured arrivals, of a batch each, at every rate (128)")
      ->group(group);
}

void override_load(experiment::Experiment& experiment, const ServerOptions& options) {
  auto& settings = experiment.server;
  if (options.rates && options.find_max_rate) {
    throw UsageError("--rate measures at the rates that it names, and --find-max-rate searches one; give one of them");
  }
  if (options.rates || options.find_max_rate) {
    settings.rates = options.rates ? parse_rates(*options.rates) : std::vector<double>{};
    settings.find_max_rate = options.find_max_rate.value_or("");
  }
  if (options.find_max_rate) experiment::parse_latency_bound(*options.find_max_rate);
  if (options.queries) settings.queries = *options.queries;
  const bool loaded = !settings.rates.empty() || !settings.find_max_rate.empty();
  const auto scenarios = parse_scenarios(options.scenario.value_or("server"));
  if (options.scenario) experiment.phases = scenarios.phases();
  if (options.scenario && !scenarios.server) {
    if (options.rates || options.find_max_rate) {
      throw UsageError("--rate and --find-max-rate are for --scenario server");
    }
    settings = {};
  } else if (options.scenario && !loaded) {
    throw UsageError("--scenario server needs to know how fast images arrive: give --rate, or --find-max-rate");
  }
  if (options.queries && settings.rates.empty() && settings.find_max_rate.empty()) {
    throw UsageError("--queries counts the arrivals of --scenario server; give --rate or --find-max-rate, too");
  }
}

}  // namespace paretopipe::cli
