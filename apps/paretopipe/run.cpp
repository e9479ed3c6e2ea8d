#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/write_tensor.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/output.hpp>

#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.hpp"
#include "sweep_setup.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

struct RunOptions {
  SweepOptions sweep;
  std::string model;
  std::filesystem::path input;
  std::filesystem::path output;
};

/// The smallest possible trial of a sweep, with the requested split; its batch is the whole file.
experiment::Experiment experiment_of_run(const RunOptions& options) {
  const files::TensorFile file(options.input);
  const auto& shape = file.tensor().shape;
  if (shape.size() < 2 || shape.front() < 1 || shape.front() > experiment::kMostImages) {
    throw UsageError(
        fmt::format("read a batch from {}: its shape is [{}]; it must be [samples, ...], with 1 to {} samples",
                    options.input.string(), fmt::join(shape, ", "), experiment::kMostImages));
  }
  const auto& given = options.sweep.settings;
  if (!given.contains("splits") && !given.contains("partitions")) {
    throw UsageError("say where to cut the model: --split 5, or --stages 3 --partitions 4,9");
  }
  experiment::Experiment experiment;
  experiment.models = {options.model};
  if (experiment::names_archive(options.model)) {
    experiment.input = fmt::format("{}", fmt::join(shape.begin() + 1, shape.end(), "x"));
  }
  experiment.batch = static_cast<int>(shape.front());
  experiment.data = fmt::format("tensor:{}", options.input.string());
  experiment.batches = 2;  // the smallest number for a trial: the batch goes the same way each time
  experiment.warmup = 0;
  experiment.depth = 1;
  experiment.repeat.trials = 1;
  experiment.shaping = "none";
  experiment::apply_flags(experiment, given);
  return completed(std::move(experiment));
}

files::DType stored_type(wire::DType dtype) {
  switch (dtype) {
    case wire::DType::float32:
      return files::DType::float32;
    case wire::DType::bfloat16:
      return files::DType::bfloat16;
    case wire::DType::int64:
      return files::DType::int64;
  }
  throw Error(ExitCode::internal, fmt::format("no file's type for wire type {}", static_cast<int>(dtype)));
}

/// The bytes in the order of the shape, whatever their order in memory.
std::vector<std::byte> in_order(const run::BatchResult& result) {
  if (result.spec.memory_format == wire::MemoryFormat::contiguous) return result.bytes;
  const auto& shape = result.spec.shape;  // images, channels, height, width; in memory the channels come last
  const auto element = static_cast<std::size_t>(wire::element_size(result.spec.dtype));
  const auto channels = static_cast<std::size_t>(shape[1]);
  const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
  std::vector<std::byte> ordered(result.bytes.size());
  for (std::size_t i = 0; i < result.bytes.size() / element; ++i) {
    const auto image = i / (channels * plane);
    const auto from = (image * plane + i % plane) * channels + i / plane % channels;
    std::copy_n(result.bytes.begin() + static_cast<std::ptrdiff_t>(from * element), element,
                ordered.begin() + static_cast<std::ptrdiff_t>(i * element));
  }
  return ordered;
}

void write_output(const run::BatchResult& result, const std::filesystem::path& file) {
  const auto bytes = in_order(result);
  const files::DenseTensor tensor{stored_type(result.spec.dtype), result.spec.shape, bytes};
  render::write_file(file, files::tensor_file_of(tensor, file));
}

/// The device of a stage, if it was named, or if stages share devices or use a GPU; otherwise each is on its own
/// device, on the CPU.
std::string where(const experiment::Trial& trial, std::size_t stage) {
  std::string text;
  if (!trial.on.empty()) {
    text += fmt::format(" on {}", trial.on.at(stage));
  } else if (!trial.placement.empty()) {
    text += fmt::format(" on device {}", trial.placement.at(stage));
  }
  if (!trial.compute_devices.empty()) text += fmt::format(" on {}", trial.compute_devices.at(stage));
  return text;
}

void print_way(const record::TrialRecord& record) {
  const auto& trial = record.trial;
  fmt::print("{} split {}, batch {}\n", trial.model, record::split_label(trial), trial.batch);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const auto& blocks = record.stages[i].blocks;
    fmt::print("stage {}{}: {}", i, where(trial, i),
               blocks.empty() ? "no block" : fmt::format("blocks {} to {}", blocks.begin + 1, blocks.end));
    if (i < record.links.size()) {
      const auto& link = record.links[i];
      fmt::print(", then {} over TCP to stage {}", format_bytes(static_cast<double>(link.payload_bytes)), link.to);
    }
    fmt::print("\n");
  }
}

void print_result(const record::TrialRecord& record, const run::BatchResult& result, const RunOptions& options) {
  const auto difference = record.fidelity->max_abs_difference;
  fmt::print("output: {} in {}\n", wire::to_string(result.spec), options.output.string());
  fmt::print("difference from the unsplit model: {}{}\n", record::format_number(difference),
             difference == 0 ? ", bit for bit the same" : "");
  if (const auto& accuracy = record.fidelity->accuracy) {
    fmt::print("top-1 accuracy: {:.2f} % of {} images\n", 100 * accuracy->top1, accuracy->images);
  }
}

ExitCode run_run(const RunOptions& options) {
  files::check_tensor_file_name(options.output);
  const auto experiment = experiment_of_run(options);
  for (const std::filesystem::path read : {options.input.string(), options.model, experiment.weights}) {
    check_not_replaced(read, options.output);
  }
  render::check_target(options.output);
  const auto inputs = run::find_inputs(experiment);
  if (!inputs.warning.empty()) print_notice("warning: {}\n", inputs.warning);
  const launch::InterruptGuard interrupt;
  run::PipelineExecutor executor(executor_options(options.sweep, experiment, inputs, interrupt));
  const auto record = executor.run(only_trial("run", run::prepare_sweep(experiment, inputs, executor)));
  if (record.status != record::Status::ok) {
    print_notice("paretopipe: nothing was written: {}\n", record::describe(*record.failure));
    return ExitCode::negative;
  }
  const auto result = executor.last_result(record.trial);
  write_output(result, options.output);
  print_way(record);
  print_result(record, result, options);
  return ExitCode::success;
}

void add_options(CLI::App& command, RunOptions& options) {
  command.add_option("--model", options.model, "Model, or TorchScript archive (`paretopipe models` lists them)")
      ->required();
  command
      .add_option("--input", options.input,
                  "One batch: a tensor [samples, ...] that torch.save wrote, or a .safetensors file with one")
      ->required();
  command.add_option("--output", options.output, "Where the logits go: a file that ends in .pt or .safetensors")
      ->required();
  add_setting_flags(
      command, options.sweep.settings,
      "splits stages partitions cuts max_crossing num_classes weights labels seed compute dtype memory_format "
      "threads_per_stage compute_devices cpus on devices placement device_profiles trial_timeout_s",
      {{"splits", kCutNeeded}});
}

}  // namespace

void add_run(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "Push one batch through a split model, and write what comes out");
  add_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return run_run(*options); }; });
}

}  // namespace paretopipe::cli
