#include <paretopipe/analysis/diagnosis/diagnosis.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "sweep_setup.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct CodecsOptions {
  SweepOptions sweep;
  std::string model;
  std::string format = "table";
};

std::string bits_text(const codec::Row& row) {
  return row.bits_per_value > 0 ? fmt::format("{:g}", row.bits_per_value) : "as the values allow";
}

void print_catalogue() {
  render::Table table({{"codec"}, {"bits a value", render::Align::right}, {"loses"}, {"what crosses the cut"}});
  for (const auto& row : codec::catalogue()) {
    table.add_row(
        {std::string(row.name), bits_text(row), row.lossy ? "precision" : "nothing", std::string(row.meaning)});
  }
  fmt::print(
      "{}\nBits of a float32; a few bytes of levels come beside them. Activations with NaN or infinity are refused by\n"
      "codecs that lose precision. With a model and --split, its activation there is encoded with each.\n",
      table.to_text());
}

nlohmann::ordered_json catalogue_json() {
  auto json = nlohmann::ordered_json::array();
  for (const auto& row : codec::catalogue()) {
    nlohmann::ordered_json entry{{"name", row.name}, {"lossy", row.lossy}, {"meaning", row.meaning}};
    if (row.bits_per_value > 0) entry["bits_per_value"] = row.bits_per_value;
    json.push_back(std::move(entry));
  }
  return json;
}

/// Small trials with one batch in flight, with every codec unless some are named. Trials without a codec are added if
/// none are named.
experiment::Experiment experiment_of(const CodecsOptions& options) {
  const auto& given = options.sweep.settings;
  if (!given.contains("splits") && !given.contains("partitions")) {
    throw UsageError("say where the activation is: --split 5, or --stages 3 --partitions 4,9");
  }
  experiment::Experiment experiment;
  experiment.models = {options.model};
  experiment.phases = experiment::Phases::single_stream;
  experiment.depth = 1;
  experiment.batches = 16;
  experiment.warmup = 4;
  experiment.repeat.trials = 1;
  experiment.shaping = "none";
  experiment.codecs.clear();
  for (const auto& row : codec::catalogue()) {
    if (!row.of_images) experiment.codecs.emplace_back(row.name);
  }
  experiment.codecs.emplace_back("channel8+zstd");
  experiment::apply_flags(experiment, given);
  for (auto* codecs : {&experiment.codecs, &experiment.codec_inputs}) {
    if (codecs->empty()) continue;
    const auto none = std::find(codecs->begin(), codecs->end(), codec::kNone);
    if (none == codecs->end()) {
      codecs->insert(codecs->begin(), codec::kNone);
    } else {
      std::rotate(codecs->begin(), none, none + 1);
    }
  }
  return completed(std::move(experiment));
}

/// What one codec did to the activation.
struct Found {
  record::TrialRecord record;
  double coding_ns = 0;  ///< encode and decode, in addition to those without a codec
  std::optional<double> break_even_bit_per_s{};
};

double payload_of(const record::TrialRecord& record) {
  double bytes = 0;
  for (const auto& link : record.links) bytes += static_cast<double>(link.payload_bytes);
  return bytes;
}

std::vector<Found> measure(const experiment::Experiment& experiment, const CodecsOptions& options) {
  const auto inputs = run::find_inputs(experiment);
  const launch::InterruptGuard interrupt;
  run::PipelineExecutor executor(executor_options(options.sweep, experiment, inputs, interrupt));
  const auto trials = run::prepare_sweep(experiment, inputs, executor).trials;
  const bool of_input = !experiment.codec_inputs.empty() && trials.front().split_points.front() == 0;
  const auto& codecs = of_input ? experiment.codec_inputs : experiment.codecs;
  std::vector<experiment::Trial> asked;
  for (const auto& codec : codecs) {
    std::copy_if(trials.begin(), trials.end(), std::back_inserter(asked),
                 [&](const auto& trial) { return trial.codec == codec; });
  }
  if (asked.size() != codecs.size()) {
    throw UsageError(
        fmt::format("codecs measures one cut that something crosses, once with each of {} codecs, and these flags ask "
                    "for {}; name one cut with --split",
                    codecs.size(), record::quantity(asked.size(), "such trial")));
  }
  std::vector<Found> found;
  for (const auto& trial : asked) found.push_back({executor.run(trial)});
  const auto& plain = found.front().record;
  for (auto& one : found) {
    if (one.record.status != record::Status::ok || plain.status != record::Status::ok) continue;
    one.coding_ns = diagnosis::coding_ns(*one.record.summary) - diagnosis::coding_ns(*plain.summary);
    one.break_even_bit_per_s =
        diagnosis::break_even_bit_per_s(payload_of(plain) - payload_of(one.record), one.coding_ns);
  }
  return found;
}

std::string pays_below(const Found& found, double whole) {
  if (found.record.trial.codec == codec::kNone) return "";
  if (found.break_even_bit_per_s) return format_count(*found.break_even_bit_per_s) + "bit/s";
  return payload_of(found.record) < whole ? "any rate" : "never";
}

void print_table(const std::vector<Found>& found) {
  render::Table table({{"codec"},
                       {"payload", render::Align::right},
                       {"of it", render::Align::right},
                       {"encode + decode", render::Align::right},
                       {"largest error", render::Align::right},
                       {"mean error", render::Align::right},
                       {"top-1 kept", render::Align::right},
                       {"pays below", render::Align::right}});
  const auto whole = payload_of(found.front().record);
  for (const auto& one : found) {
    const auto& record = one.record;
    if (record.status != record::Status::ok) {
      table.add_row({record.trial.codec, "failed", "", "", "", "", "", ""});
      continue;
    }
    const bool plain = record.trial.codec == codec::kNone;
    table.add_row({record.trial.codec, format_bytes(payload_of(record)),
                   fmt::format("{:.1f} %", 100 * payload_of(record) / whole),
                   plain ? "" : format_duration(std::max(0.0, one.coding_ns)),
                   fmt::format("{:.3g}", record.fidelity->max_abs_difference),
                   fmt::format("{:.3g}", *record.fidelity->mean_abs_difference),
                   fmt::format("{:.1f} %", 100 * record.fidelity->top1_agreement), pays_below(one, whole)});
  }
  const auto& trial = found.front().record.trial;
  fmt::print("{} at {}, batch {}\n\n{}\n", trial.model, record::split_name(trial), trial.batch, table.to_text());
  fmt::print(
      "Means of {} batches with one in flight; the errors are those of the logits. \"pays below\": over a slower link\n"
      "the bytes that are saved take longer than encode and decode.\n",
      trial.batches);
  for (const auto& one : found) {
    if (one.record.failure) fmt::print("{}: {}\n", one.record.trial.codec, record::describe(*one.record.failure));
  }
}

nlohmann::ordered_json to_json(const Found& found) {
  const auto& record = found.record;
  nlohmann::ordered_json json{{"codec", record.trial.codec}, {"status", to_string(record.status)}};
  if (record.failure) json["failure"] = record::describe(*record.failure);
  if (record.status != record::Status::ok) return json;
  json["payload_bytes"] = payload_of(record);
  json["coding_ns"] = found.coding_ns;
  json["max_abs_difference"] = record.fidelity->max_abs_difference;
  json["mean_abs_difference"] = *record.fidelity->mean_abs_difference;
  json["top1_agreement"] = record.fidelity->top1_agreement;
  if (found.break_even_bit_per_s) json["break_even_bit_per_s"] = *found.break_even_bit_per_s;
  return json;
}

ExitCode run_model(const CodecsOptions& options) {
  const auto found = measure(experiment_of(options), options);
  if (options.format == "json") {
    auto json = nlohmann::ordered_json::array();
    for (const auto& one : found) json.push_back(to_json(one));
    fmt::print("{}", render::json_text(json));
  } else {
    print_table(found);
  }
  const bool all_ok =
      std::all_of(found.begin(), found.end(), [](const auto& one) { return one.record.status == record::Status::ok; });
  return all_ok ? ExitCode::success : ExitCode::negative;
}

ExitCode run_codecs(const CodecsOptions& options) {
  if (!options.model.empty()) return run_model(options);
  if (!options.sweep.settings.empty()) throw UsageError("these flags are about one model's activation; name the model");
  if (options.format == "json") {
    fmt::print("{}", render::json_text(catalogue_json()));
  } else {
    print_catalogue();
  }
  return ExitCode::success;
}

}  // namespace

void add_codecs(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<CodecsOptions>();
  auto* command = app.add_subcommand("codecs", "List what activations can cross a cut with, or try it on one");
  command->add_option("model", options->model, "The model whose activation is encoded; without it, codecs are listed");
  add_setting_flags(*command, options->sweep.settings,
                    "splits stages partitions codec codec_input batch batches warmup input cuts max_crossing "
                    "num_classes weights data seed compute dtype memory_format threads_per_stage cpus",
                    {{"splits", kCutNeeded}, {"batches", "16"}, {"codec", "each codec"}});
  add_format_option(*command, options->format, {"table", "json"});
  command->callback([options, &chosen] { chosen = [options] { return run_codecs(*options); }; });
}

}  // namespace paretopipe::cli
