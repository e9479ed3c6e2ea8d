#include <paretopipe/compute/files/write_tensor.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/data_source.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/output.hpp>
#include <paretopipe/run/trial_requests.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <unistd.h>

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
  std::optional<double> target_accuracy{};
  std::filesystem::path save;
  bool codec_only = false;
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
  experiment.batches = 2;  // epochs say how many steps there are
  experiment::apply_flags(experiment, given);
  const auto data = experiment::parse_data(experiment.data);
  if (experiment.labels.empty() && data.own_labels()) experiment.labels = experiment::kOwnLabels;
  if (experiment.labels.empty()) {
    throw UsageError(
        fmt::format("training needs the class of each sample, and {} has none of its own: name a file of "
                    "them with --labels, or a data set",
                    data.kind));
  }
  return completed(std::move(experiment));
}

files::DType type_in_file(wire::DType dtype) {
  return dtype == wire::DType::int64 ? files::DType::int64 : files::DType::float32;
}

/// A file that `--weights` reads, and PyTorch with torch.load or safetensors.torch.load_file.
void save(const std::vector<run::TrainedTensor>& weights, const std::filesystem::path& file) {
  files::NamedTensors tensors;
  for (const auto& [name, spec, bytes] : weights)
    tensors.push_back({name, {type_in_file(spec.dtype), spec.shape, bytes}});
  render::write_file(file, files::weights_file_of(tensors, file));
}

void check_target_of_weights(const TrainOptions& options, const experiment::Experiment& experiment) {
  if (options.save.empty()) return;
  files::check_tensor_file_name(options.save);
  render::check_target(options.save);
  const auto data = experiment::parse_data(experiment.data);
  for (const std::filesystem::path read : {experiment.models.front(), experiment.weights, experiment.labels,
                                           data.own_files() ? data.place : std::string()}) {
    check_not_replaced(read, options.save);
  }
}

/// True if the codec is lossy and the training is first done without it, to compare.
bool compares(const TrainOptions& options, const experiment::Trial& trial) {
  return !options.codec_only && run::has_lossy_codec(trial);
}

/// Shows the results of a training and keeps its weights, epoch after epoch.
class Course {
 public:
  /// `without`: the epochs of the same training without its codec, if it is compared with them.
  Course(const TrainOptions& options, std::vector<run::Epoch> without)
      : options_(&options), without_(std::move(without)) {}

  run::EpochObserver observer() {
    return {.done = [this](const auto& epoch, const auto& weights) { return tell(epoch, weights); },
            .progress = [this](const auto& epoch) { show_progress(epoch); }};
  }

  /// What became of the file, for a training that ended early.
  std::string kept() const {
    if (options_->save.empty()) return "";
    if (done_.number == 0) return fmt::format("; {} was not written", options_->save.string());
    return fmt::format("; {} has the weights after epoch {}", options_->save.string(), done_.number);
  }

  ExitCode conclude(const std::string& codec) const {
    if (!without_.empty()) {
      const auto& other = without_.at(static_cast<std::size_t>(done_.number) - 1);
      fmt::print("{} costs {:.2f} points of accuracy in the last epoch, and {:.4f} of loss\n", codec,
                 100 * (other.accuracy - done_.accuracy), done_.loss - other.loss);
    }
    if (!options_->save.empty()) fmt::print("weights: {}\n", options_->save.string());
    if (!options_->target_accuracy) return ExitCode::success;
    fmt::print("an accuracy of {:.2f} % was {} {}\n", 100 * *options_->target_accuracy,
               reached_target() ? "reached after" : "not reached in", format_duration(seconds_ * 1e9));
    return reached_target() ? ExitCode::success : ExitCode::negative;
  }

  void clear_progress() {
    if (std::exchange(shown_, false)) print_notice(kClearLine);
  }

 private:
  bool reached_target() const { return options_->target_accuracy && done_.accuracy >= *options_->target_accuracy; }

  /// Only on a terminal.
  void show_progress(const run::Epoch& epoch) {
    if (::isatty(STDERR_FILENO) == 0) return;
    const auto left =
        epoch.seconds * static_cast<double>(epoch.of_samples - epoch.samples) / static_cast<double>(epoch.samples);
    print_notice("{}epoch {}/{}: {} of {} samples, loss {:.4f}, {} left", kClearLine, epoch.number, epoch.of,
                 epoch.samples, epoch.of_samples, epoch.loss, format_duration(left * 1e9));
    shown_ = true;
  }

  /// True if the training goes on.
  bool tell(const run::Epoch& epoch, const run::FetchWeights& weights) {
    clear_progress();
    if (!options_->save.empty()) save(weights(), options_->save);
    done_ = epoch;
    seconds_ += epoch.seconds;
    std::string beside;
    if (!without_.empty()) {
      const auto& other = without_.at(static_cast<std::size_t>(epoch.number) - 1);
      beside = fmt::format("; without the codec: loss {:.4f}, accuracy {:.2f} %", other.loss, 100 * other.accuracy);
    }
    fmt::print("epoch {}/{}: loss {:.4f}, accuracy {:.2f} %, {:.0f} sample/s, {} so far{}\n", epoch.number, epoch.of,
               epoch.loss, 100 * epoch.accuracy, static_cast<double>(epoch.samples) / epoch.seconds,
               format_duration(seconds_ * 1e9), beside);
    std::fflush(stdout);
    return !reached_target();
  }

  const TrainOptions* options_;
  std::vector<run::Epoch> without_;
  run::Epoch done_{};
  double seconds_ = 0;
  bool shown_ = false;
};

/// Trains without the trial's codec and appends the epochs to `done`. The weights are not kept.
std::optional<record::Failure> train_without_codec(run::PipelineExecutor& executor, experiment::Trial trial, int epochs,
                                                   std::vector<run::Epoch>& done) {
  const auto codec = std::exchange(trial.codec, codec::kNone);
  print_notice("training without {} first, to compare; --codec-only leaves that out\n", codec);
  return executor.train_epochs(trial, epochs, {.done = [&](const auto& epoch, const auto&) {
                                 done.push_back(epoch);
                                 return true;
                               }});
}

ExitCode run_train(const TrainOptions& options) {
  const auto experiment = experiment_of_train(options);
  check_target_of_weights(options, experiment);
  const auto inputs = run::find_inputs(experiment);
  if (!inputs.warning.empty()) print_notice("warning: {}\n", inputs.warning);
  const launch::InterruptGuard interrupt;
  run::PipelineExecutor executor(executor_options(options.sweep, experiment, inputs, interrupt));
  const auto trial = only_trial("train", run::prepare_sweep(experiment, inputs, executor));
  Course course(options, {});
  try {
    std::optional<record::Failure> failure;
    if (compares(options, trial)) {
      std::vector<run::Epoch> without;
      failure = train_without_codec(executor, trial, options.epochs, without);
      course = Course(options, std::move(without));
    }
    if (!failure) failure = executor.train_epochs(trial, options.epochs, course.observer());
    course.clear_progress();
    if (failure) {
      print_notice("paretopipe: training ended early: {}{}\n", record::describe(*failure), course.kept());
      return ExitCode::negative;
    }
  } catch (const Interrupted&) {
    course.clear_progress();
    print_notice("paretopipe: interrupted{}\n", course.kept());
    return ExitCode::interrupted;
  } catch (const EnvironmentError& error) {
    course.clear_progress();
    throw EnvironmentError(error.what() + course.kept());
  }
  return course.conclude(trial.codec);
}

constexpr const char* kTrainSettings =
    "models num_classes weights data labels splits stages partitions codec batch micro_batches seed schedule "
    "optimizer lr lr_schedule lr_warmup momentum weight_decay recompute loss_sum networks shaping link "
    "threads_per_stage cpus on devices placement device_profiles trial_timeout_s input cuts max_crossing";

constexpr const char* kTrainHelp =
    "Trains on all samples of the data, in an order that the seed draws for every epoch; those that fill no batch are "
    "left\n"
    "out. The accuracy is that of each batch before the step learns from it. Exit codes: 0 trained; 1 it ended early, "
    "and\n"
    "the file has the weights of the last whole epoch, or did not reach its target; 2 bad input; 3 the machine cannot "
    "do it; 130 Ctrl-C.";

}  // namespace

void add_train(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("train", "Train a model over a pipeline of stages, and save its weights");
  const auto options = std::make_shared<TrainOptions>();
  add_setting_flags(*command, options->sweep.settings, kTrainSettings,
                    {{"splits", kCutNeeded}, {"labels", "the data set's own"}});
  command->add_option("--epochs", options->epochs, "How often every sample is learned from")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--target-accuracy", options->target_accuracy,
                   "End after the first epoch of this accuracy (0.9 is 90 %), and say how long that took; exit code 1 "
                   "if no epoch has it")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--save", options->save,
                   "Where the weights go after every epoch: .pth or .pt as torch.save writes it, or .safetensors")
      ->type_name("FILE");
  command->add_flag("--codec-only", options->codec_only,
                    "Leave out the training without the codec that shows what a lossy codec costs in accuracy");
  command->footer(kTrainHelp);
  command->callback([options, &chosen] { chosen = [options] { return run_train(*options); }; });
}

}  // namespace paretopipe::cli
