#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/render/table.hpp>
#include <paretopipe/run/unsplit_models.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "sweep_setup.hpp"

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

/// `tensors`: what is special about them.
void print_model(const experiment::ModelDescription& model, const std::string& tensors) {
  render::Table table({{"split", render::Align::right},
                       {"after block", render::Align::left},
                       {"output shape", render::Align::left},
                       {"activation", render::Align::right},
                       {"parameters", render::Align::right},
                       {"MACs", render::Align::right},
                       {"valid", render::Align::left}});
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

stage::ModelRequest request_of(const ModelsOptions& options) {
  experiment::Experiment experiment;
  experiment.models = {options.model};
  experiment::apply_flags(experiment, options.settings);
  experiment::check_ranges(experiment);
  if (experiment.batch.size() > 1) throw UsageError("--batch is a list; a model is described at one batch");
  experiment::check_archive_settings(experiment.models, experiment.input, experiment.cuts, experiment.max_crossing);
  const auto source =
      experiment::find_source(options.model, experiment.input, experiment.cuts, experiment.max_crossing);
  return {.model = source.archive ? source.file.string() : source.name,
          .num_classes = experiment.num_classes,
          .batch = experiment.batch.first(),
          .data = "random",
          .weights = experiment.weights,
          .archive = source.archive,
          .compute = experiment::mode_for(experiment.compute, source.name)};
}

ExitCode run_models(const ModelsOptions& options) {
  const auto program = launch::find_stage_program();
  if (options.model.empty()) {
    for (const auto& setting : experiment::settings()) {
      if (!options.settings.contains(setting.key)) continue;
      throw UsageError(fmt::format("{} is about one model; name it", setting.flag));
    }
    const auto models = run::list_models(program);
    if (options.format == "json") {
      fmt::print("{}\n", nlohmann::json(models).dump(2));
    } else {
      for (const auto& model : models) fmt::print("{}\n", model);
    }
    return ExitCode::success;
  }
  const auto request = request_of(options);
  const auto model = run::describe_model(program, request);
  if (options.format == "json") {
    fmt::print("{}\n", nlohmann::json(model).dump(2));
  } else {
    print_model(model, experiment::describe_tensors(request.compute));
  }
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
      {"batch", "num_classes", "input", "cuts", "max_crossing", "weights", "compute", "dtype", "memory_format"});
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return run_models(*options); }; });
}

}  // namespace paretopipe::cli
