#include <paretopipe/compute/files/write_tensor.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/output.hpp>

#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "sweep_setup.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct TrainOptions {
  SweepOptions sweep;
  int epochs = 1;
  std::filesystem::path save;
};

/// A trial that trains, cut in one way.
experiment::Experiment experiment_of_train(const TrainOptions& options) {
  const auto& given = options.sweep.settings;
  if (!given.contains("splits") && !given.contains("partitions")) {
    throw UsageError(
        "say where to cut the model: --split 31, --stages 3 --partitions 4,9, or all blocks for one device");
  }
  experiment::Experiment experiment;
  experiment.task = experiment::Task::train;
  experiment.repeat.trials = 1;
  experiment.warmup = 0;
  experiment::apply_flags(experiment, given);
  const auto kind = experiment::parse_data(experiment.data).kind;
  if (experiment.labels.empty() && (kind == "fashion-mnist" || kind == "cifar10")) {
    experiment.labels = experiment::kOwnLabels;
  }
  if (experiment.labels.empty()) {
    throw UsageError(
        fmt::format("training needs the class of each sample, and {} has none of its own: name a file of "
                    "them with --labels, or a data set",
                    kind));
  }
  return completed(std::move(experiment));
}

experiment::Trial only_trial_of(const run::PreparedSweep& sweep) {
  if (sweep.trials.size() == 1) return sweep.trials.front();
  throw UsageError(fmt::format("train takes one way to cut the model and to train it, and {} were named; {}",
                               sweep.trials.size(), "`paretopipe sweep --task train` measures several"));
}

files::DType type_in_file(wire::DType dtype) {
  return dtype == wire::DType::int64 ? files::DType::int64 : files::DType::float32;
}

/// A file that `--weights` reads, and PyTorch with safetensors.torch.load_file.
void save(const std::vector<run::TrainedTensor>& weights, const std::filesystem::path& file) {
  std::vector<std::pair<std::string, files::DenseTensor>> tensors;
  for (const auto& [name, spec, bytes] : weights)
    tensors.push_back({name, {type_in_file(spec.dtype), spec.shape, bytes}});
  render::write_file(file, files::safetensors_file_of(tensors));
}

void check_target_of_weights(const TrainOptions& options, const experiment::Experiment& experiment) {
  if (options.save.empty()) return;
  if (options.save.extension() != ".safetensors") {
    throw UsageError(fmt::format("write {}: its name must end in .safetensors", options.save.string()));
  }
  render::check_target(options.save);
  check_not_replaced(experiment.weights, options.save);
}

ExitCode run_train(const TrainOptions& options) {
  const auto experiment = experiment_of_train(options);
  check_target_of_weights(options, experiment);
  const auto inputs = run::find_inputs(experiment);
  if (!inputs.warning.empty()) print_notice("warning: {}\n", inputs.warning);
  const launch::InterruptGuard interrupt;
  run::PipelineExecutor executor(executor_options(options.sweep, experiment, inputs, interrupt));
  const auto trial = only_trial_of(run::prepare_sweep(experiment, inputs, executor));
  int done = 0;
  double seconds = 0;
  const auto told = [&](const run::Epoch& epoch, const std::vector<run::TrainedTensor>& weights) {
    if (!options.save.empty()) save(weights, options.save);
    done = epoch.number;
    seconds += epoch.seconds;
    fmt::print("epoch {}/{}: loss {:.4f}, accuracy {:.2f} %, {:.0f} sample/s, {} so far\n", epoch.number, epoch.of,
               epoch.loss, 100 * epoch.accuracy, static_cast<double>(epoch.samples) / epoch.seconds,
               format_duration(seconds * 1e9));
    std::fflush(stdout);
  };
  const auto kept = [&] {
    if (options.save.empty()) return std::string();
    if (done == 0) return fmt::format("; {} was not written", options.save.string());
    return fmt::format("; {} has the weights after epoch {}", options.save.string(), done);
  };
  try {
    if (const auto failure = executor.train_epochs(trial, options.epochs, told)) {
      print_notice("paretopipe: training ended early: {}{}\n", record::describe(*failure), kept());
      return ExitCode::negative;
    }
  } catch (const Interrupted&) {
    print_notice("paretopipe: interrupted{}\n", kept());
    return ExitCode::interrupted;
  }
  if (!options.save.empty()) fmt::print("weights: {}\n", options.save.string());
  return ExitCode::success;
}

constexpr const char* kTrainHelp =
    "Trains on all samples of the data, in an order that the seed draws for every epoch; those that fill no batch are "
    "left\n"
    "out. The accuracy is that of each batch before the step learns from it. Exit codes: 0 trained; 1 it ended early, "
    "and\n"
    "the file has the weights of the last whole epoch; 2 bad input; 3 the machine cannot do it; 130 Ctrl-C.";

}  // namespace

void add_train(CLI::App& app, Command& chosen, std::vector<std::string> command_line) {
  auto* command = app.add_subcommand("train", "Train a model over a pipeline of stages, and save its weights");
  const auto options = std::make_shared<TrainOptions>();
  options->sweep.command_line = std::move(command_line);
  add_setting_flags(
      *command, options->sweep.settings,
      {"models",     "num_classes",  "weights",         "data",           "labels",   "splits",    "stages",
       "partitions", "batch",        "micro_batches",   "seed",           "schedule", "optimizer", "lr",
       "momentum",   "weight_decay", "recompute",       "networks",       "shaping",  "link",      "threads_per_stage",
       "cpus",       "placement",    "device_profiles", "trial_timeout_s"});
  command->add_option("--epochs", options->epochs, "How often every sample is learned from")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--save", options->save, "Where the weights go after every epoch: a .safetensors file, whole or not")
      ->type_name("FILE");
  command->footer(kTrainHelp);
  command->callback([options, &chosen] { chosen = [options] { return run_train(*options); }; });
}

}  // namespace paretopipe::cli
