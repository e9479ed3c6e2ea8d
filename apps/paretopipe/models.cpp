#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/partitions.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/render/table.hpp>
#include <paretopipe/run/prepare_sweep.hpp>
#include <paretopipe/run/unsplit_models.hpp>

#include <set>
#include <string_view>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "sweep_setup.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct ModelsOptions {
  std::string model;
  experiment::GivenFlags settings;
  std::string format = "table";
};

/// "64x56x56", or "64x56x56 + 64x56x56" if two tensors cross.
std::string shape_text(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<std::string> texts;
  for (const auto& shape : shapes) texts.push_back(fmt::format("{}", fmt::join(shape, "x")));
  return fmt::format("{}", fmt::join(texts, " + "));
}

/// `tensors`: their type and memory format, if these are special (describe_tensors()).
void print_model(const experiment::ModelDescription& model, const std::string& tensors) {
  render::Table table({{"split", render::Align::right},
                       {"after block"},
                       {"output shape"},
                       {"activation", render::Align::right},
                       {"parameters", render::Align::right},
                       {"MACs", render::Align::right},
                       {"valid"}});
  table.add_row({"0", "(input)", shape_text(model.shapes_at(0)), format_bytes(static_cast<double>(model.input_bytes)),
                 "", "", "all remote"});
  std::int64_t parameters = 0;
  std::int64_t multiply_accumulates = 0;
  for (int k = 1; k <= model.block_count(); ++k) {
    const auto& block = model.blocks[static_cast<std::size_t>(k) - 1];
    table.add_row({std::to_string(k), block.name, shape_text(model.shapes_at(k)),
                   format_bytes(static_cast<double>(block.activation_bytes)),
                   format_count(static_cast<double>(block.parameters)),
                   format_count(static_cast<double>(block.multiply_accumulates)),
                   k == model.block_count() ? "all local" : "yes"});
    parameters += block.parameters;
    multiply_accumulates += block.multiply_accumulates;
  }
  fmt::print("{}, batch {}{}: {} blocks, {} parameters, {} multiply-accumulates\n\n{}", model.model, model.batch,
             tensors.empty() ? "" : ", " + tensors, model.block_count(), format_count(static_cast<double>(parameters)),
             format_count(static_cast<double>(multiply_accumulates)), table.to_text());
  const auto last = model.block_count() - 1;
  fmt::print("\nSplit point k puts the first k blocks on stage 0; its activation crosses the link. {}\n",
             last < 1 ? "A single block leaves no cut." : fmt::format("Every k from 1 to {} is a cut.", last));
}

/// What is asked only to see what training takes.
const std::set<std::string> kOfTraining{"splits",   "partitions", "stages",   "micro_batches",
                                        "schedule", "optimizer",  "momentum", "recompute"};

/// Throws UsageError, which says `why`, if a flag of one of the settings `keys` was given; any flag if there are none.
void refuse_any_of(const std::set<std::string>& keys, const ModelsOptions& options, std::string_view why) {
  for (const auto& setting : experiment::settings()) {
    if (!options.settings.contains(setting.key) || (!keys.empty() && !keys.contains(setting.key))) continue;
    throw UsageError(fmt::format("{} {}", setting.flag, why));
  }
}

stage::ModelRequest request_of(const ModelsOptions& options) {
  experiment::Experiment experiment;
  experiment.models = {options.model};
  experiment::apply_flags(experiment, options.settings);
  experiment::check_ranges(experiment);
  if (experiment.batch.size() > 1) throw UsageError("--batch is a list; a model is described at one batch");
  experiment::check_archive_settings(experiment.models, experiment.input, experiment.cuts, experiment.max_crossing);
  const bool trained = experiment.task == experiment::Task::train;
  if (!trained) refuse_any_of(kOfTraining, options, "tells how much memory training takes; add --task train");
  auto source = experiment::find_source(options.model, experiment.input, experiment.cuts, experiment.max_crossing);
  if (source.archive) source.archive->trained = trained;
  return {.model = source.archive ? source.file.string() : source.name,
          .num_classes = experiment.num_classes,
          .batch = experiment.batch.first(),
          .data = "random",
          .weights = experiment.weights,
          .archive = source.archive,
          .compute = trained ? experiment::ComputeMode{} : experiment::mode_for(experiment.compute, source.name)};
}

/// A stage of a way to train, and what it needs.
struct TrainedStage {
  const experiment::Trial& trial;
  std::size_t number;
  experiment::BlockRange blocks;
  experiment::PartMemory memory;
  experiment::StageNeed need;
};

std::vector<TrainedStage> stages_of(const experiment::Trial& trial, const std::filesystem::path& program,
                                    const stage::ModelRequest& model) {
  std::vector<experiment::BlockRange> parts;
  for (const auto& blocks : trial.stage_blocks()) {
    if (!blocks.empty()) parts.push_back(blocks);
  }
  constexpr int kCounted = 2;  // micro-batches, as MeasureTraining has it
  const auto measured = run::measure_training(program, {{model, *trial.training, kCounted, 1}, parts}).parts;
  const experiment::TrainingExtent extent{static_cast<int>(parts.size()), trial.micro_batches(), 2};
  std::vector<TrainedStage> stages;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto actions = experiment::actions_of(trial.training->schedule, extent, static_cast<int>(i));
    stages.push_back({trial, i, parts[i], measured[i], experiment::predict_memory(actions, measured[i])});
  }
  return stages;
}

void add_rows(render::Table& table, const std::vector<TrainedStage>& stages) {
  const auto bytes = [](std::int64_t count) { return format_bytes(static_cast<double>(count)); };
  for (const auto& stage : stages) {
    const auto& memory = stage.memory;
    const auto cut = fmt::format("{}", fmt::join(stage.trial.split_points, ","));
    table.add_row({fmt::format("{} {}", cut, stage.trial.way_of_training()), std::to_string(stage.number),
                   fmt::format("{}-{}", stage.blocks.begin + 1, stage.blocks.end), bytes(memory.parameters),
                   std::to_string(stage.need.versions), bytes(memory.optimizer), bytes(memory.gradients),
                   bytes(memory.stashed), std::to_string(stage.need.in_flight), bytes(stage.need.peak)});
  }
}

nlohmann::json json_of(const TrainedStage& stage) {
  nlohmann::json json = stage.memory;
  json["split_points"] = stage.trial.split_points;
  json["training"] = stage.trial.way_of_training();
  json["stage"] = stage.number;
  json["in_flight"] = stage.need.in_flight;
  json["versions"] = stage.need.versions;
  json["peak"] = stage.need.peak;
  return json;
}

/// Shows what each stage needs, for the ways to train that the settings name.
void show_training(const ModelsOptions& options, experiment::ModelDescription model, stage::ModelRequest request,
                   const std::filesystem::path& program) {
  experiment::Experiment experiment;
  experiment.models = {options.model};
  experiment::apply_flags(experiment, options.settings);
  experiment = completed(std::move(experiment));
  if (experiment::wants_equal_time(experiment)) {
    throw UsageError(
        "models measures memory and no times: leave out --partitions equal-time, or list its split points");
  }
  const auto inputs = run::find_inputs(experiment);
  request = run::as_described(std::move(request), model);
  request.seed = experiment.seed;
  render::Table table({{"split"},
                       {"stage", render::Align::right},
                       {"blocks"},
                       {"weights", render::Align::right},
                       {"versions", render::Align::right},
                       {"optimizer", render::Align::right},
                       {"gradients", render::Align::right},
                       {"a micro-batch", render::Align::right},
                       {"in flight", render::Align::right},
                       {"peak", render::Align::right}});
  auto all = nlohmann::json::array();
  for (const auto& trial : experiment::plan_trials(experiment, {model}, inputs.networks, inputs.plan)) {
    if (trial.repetition > 0) continue;
    request.batch = trial.images_per_micro_batch();
    const auto stages = stages_of(trial, program, request);
    add_rows(table, stages);
    for (const auto& stage : stages) all.push_back(json_of(stage));
  }
  if (options.format == "json") {
    auto json = nlohmann::json(model);
    json["training"] = all;
    fmt::print("{}", render::json_text(json));
    return;
  }
  fmt::print(
      "\n{}\nMeasured in one process that trains two micro-batches. The peak is what the schedule makes of it, without "
      "what waits for a link.\n",
      table.to_text());
}

ExitCode run_models(const ModelsOptions& options) {
  const auto program = launch::find_stage_program();
  if (options.model.empty()) {
    refuse_any_of({}, options, "is about one model; name it");
    const auto models = run::list_models(program);
    if (options.format == "json") {
      fmt::print("{}", render::json_text(nlohmann::json(models)));
    } else {
      for (const auto& model : models) fmt::print("{}\n", model);
    }
    return ExitCode::success;
  }
  const auto request = request_of(options);
  const auto model = run::describe_model(program, request);
  const bool with_cuts = options.settings.contains("splits") || options.settings.contains("partitions");
  if (options.format == "table") {
    print_model(model, experiment::describe_tensors(request.compute));
  } else if (!with_cuts) {
    fmt::print("{}", render::json_text(nlohmann::json(model)));
  }
  if (with_cuts) show_training(options, model, request, program);
  return ExitCode::success;
}

}  // namespace

void add_models(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ModelsOptions>();
  auto* command = app.add_subcommand("models", "List the models, or one model's blocks and split points");
  command->add_option("model", options->model,
                      "The model or TorchScript archive to look into; without it, the models are listed");
  add_setting_flags(
      *command, options->settings,
      "batch num_classes input cuts max_crossing weights compute dtype memory_format task splits stages partitions "
      "micro_batches schedule optimizer momentum recompute");
  add_format_option(*command, options->format, {"table", "json"});
  command->callback([options, &chosen] { chosen = [options] { return run_models(*options); }; });
}

}  // namespace paretopipe::cli
