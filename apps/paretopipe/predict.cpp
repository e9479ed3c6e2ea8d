#include <paretopipe/analysis/frontier/objective.hpp>
#include <paretopipe/analysis/predict/corrections.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/render/page/page.hpp>
#include <paretopipe/render/render_prediction.hpp>

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {
namespace {

/// The third objective beside latency and throughput.
constexpr const char* kMemoryObjective = "memory";

struct PredictOptions {
  std::vector<std::string> profiles;
  int stages = 0;
  std::string network;
  std::string shaping = "netem";
  bool any_order = false;
  int depth = 4;
  std::vector<std::string> codecs{codec::kNone};
  std::vector<std::string> memory;
  std::string objective;
  std::vector<std::string> constraints;
  std::optional<double> rate;
  std::string fit;
  std::string check;
  std::string within = "5 %";
  std::string format = "table";
  std::string out;
};

predict::Question question_of(const PredictOptions& options) {
  predict::Question question;
  for (const auto& file : options.profiles) {
    check_not_replaced(file, options.out);
    question.profiles.push_back(predict::load_profile(file));
  }
  question.stages = options.stages;
  check_not_replaced(options.network, options.out);
  if (!options.network.empty()) question.network = experiment::load_network_profile(options.network);
  if (options.shaping == "emulated") question.shaping = experiment::Shaping::emulated;
  question.any_order = options.any_order;
  question.depth = options.depth;
  question.codecs = experiment::canonical_codecs(options.codecs, "--codec");
  for (const auto& limit : options.memory) question.memory_bytes.push_back(parse_bytes(limit));
  question.least_memory = options.objective == kMemoryObjective;
  question.rate_image_per_s = options.rate;
  if (options.fit.empty()) return question;
  check_not_replaced(options.fit, options.out);
  question.corrections = predict::fit(question, load_records(options.fit).records);
  return question;
}

enum class End { whole, lowest_latency, highest_throughput };

/// The end of the frontier that a person asks for.
End end_of(const std::string& objective) {
  if (objective.empty() || objective == kMemoryObjective) return End::whole;
  const auto label = frontier::parse_objective(objective).label();
  if (label == "latency_p50:min") return End::lowest_latency;
  if (label == "throughput:max") return End::highest_throughput;
  throw UsageError(
      fmt::format("--objective {}: only latency_p50, throughput and memory are predicted; measure the others with "
                  "`paretopipe sweep`",
                  objective));
}

/// Removes the splits that break a bound. The others are the frontier of all splits that keep the bounds: a bound asks
/// for better values, so a split that breaks it beats none that keeps it.
void keep_bounds(std::vector<predict::PredictedSplit>& frontier, const std::vector<frontier::Constraint>& constraints) {
  for (const auto& constraint : constraints) {
    using frontier::Comparison;
    if (constraint.metric == nullptr) {
      throw UsageError(
          fmt::format("--where {}: name those that there are to choose from with --codec instead", constraint.label()));
    }
    const bool at_most = constraint.comparison == Comparison::less || constraint.comparison == Comparison::at_most;
    if (at_most != (constraint.metric->better == record::Direction::min)) {
      throw UsageError(
          fmt::format("--where {}: this asks for what is worse; turn the bound round", constraint.label()));
    }
    const bool of_latency = constraint.metric->name == "latency_p50";
    if (!of_latency && constraint.metric->name != "throughput") {
      throw UsageError(
          fmt::format("--where {}: bounds of latency_p50 and throughput can be kept here, and --memory limits what a "
                      "stage needs; measure the others with `paretopipe sweep`",
                      constraint.label()));
    }
    std::erase_if(frontier, [&](const predict::PredictedSplit& split) {
      return !constraint.holds(of_latency ? split.latency_ns.value : split.throughput_image_per_s.value);
    });
  }
}

constexpr const char* kPage = "page";

std::string render_prediction(const predict::Prediction& prediction, const std::vector<predict::Profile>& profiles,
                              const PredictOptions& options) {
  if (options.format == kPage) return page::render_page(page::make_page_data(prediction, profiles));
  if (options.format == "csv") return render::render_csv(prediction);
  if (options.format == "json") return render::render_json(prediction);
  return render::render_text(prediction, text_style(options.out));
}

std::string render_verification(const predict::Verification& verification, double tolerance,
                                const PredictOptions& options) {
  if (options.format == "csv") return render::render_csv(verification);
  if (options.format == "json") return render::render_json(verification, tolerance);
  return render::render_text(verification, tolerance, text_style(options.out));
}

/// Compares what the profiles predict with records.
ExitCode check_profiles(const PredictOptions& options) {
  const auto tolerance = parse_probability(options.within);
  if (!options.objective.empty() || !options.constraints.empty()) {
    throw UsageError(
        "--check holds every measured split against its prediction; leave --objective out, and --where, too");
  }
  if (options.format == kPage) {
    throw UsageError(
        "--check has no page of its own; `paretopipe report --profile` shows predictions and measurements");
  }
  check_not_replaced(options.check, options.out);
  const auto records = load_records(options.check).records;
  const auto verification = predict::verify(predict::as_measured(question_of(options), records), records);
  deliver(render_verification(verification, tolerance, options), options.out);
  return verification.median_error <= tolerance ? ExitCode::success : ExitCode::negative;
}

void check_page(const PredictOptions& options) {
  if (options.out.empty()) throw UsageError("--format page: name the file of the page with --out");
  page::require_renderer();
}

ExitCode run_predict(const PredictOptions& options) {
  if (!options.check.empty()) return check_profiles(options);
  const auto end = end_of(options.objective);
  const auto constraints = frontier::parse_constraints(options.constraints);
  if (options.format == kPage) check_page(options);
  const auto question = question_of(options);
  auto prediction = predict::predict(question);
  auto& frontier = prediction.frontier;
  keep_bounds(frontier, constraints);
  if (end == End::lowest_latency && !frontier.empty()) frontier.erase(frontier.begin() + 1, frontier.end());
  if (end == End::highest_throughput && !frontier.empty()) frontier.erase(frontier.begin(), frontier.end() - 1);
  if (frontier.empty() && options.format == kPage) {
    print_notice("no split is possible, so there is no page\n");
    return ExitCode::negative;
  }
  deliver(render_prediction(prediction, question.profiles, options), options.out);
  return frontier.empty() ? ExitCode::negative : ExitCode::success;
}

/// Adds the options that say which pipelines are predicted, and over which network.
void add_question_options(CLI::App& command, PredictOptions& options) {
  command.add_option("profiles", options.profiles, "Files that `paretopipe profile` wrote; their devices in order")
      ->required();
  command.add_option("--stages", options.stages, "Stages of the pipeline (as many as devices)")
      ->check(CLI::Range(1, experiment::kMostStages));
  command.add_option("--network", options.network, "Network of every link: a profile, or a file (as probed)");
  command
      .add_option("--shaping", options.shaping,
                  "What keeps that network's rate: netem, or a real one, with the headers of frames; or emulated")
      ->check(CLI::IsMember({"netem", "emulated"}))
      ->capture_default_str();
  command.add_flag("--any-order", options.any_order, "Choose the devices and their order, too, of up to 12");
  command.add_option("--depth", options.depth, "Batches in flight")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command
      .add_option("--codec", options.codecs,
                  "Codecs to choose from, each for all cuts, that the profiles were made with: none,uniform8")
      ->type_name("CODEC,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  add_repeatable(command, "--memory", options.memory, "BYTES",
                 "Memory that a stage may need, such as 512MiB: once for all devices, or once for each (any)");
}

}  // namespace

void add_predict(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("predict", "Predict the splits that nothing beats, from profiles");
  const auto options = std::make_shared<PredictOptions>();
  add_question_options(*command, *options);
  command->add_option(
      "--objective", options->objective,
      "Only the best of latency_p50 or throughput; or memory as a third objective (the frontier of two)");
  add_repeatable(*command, "--where", options->constraints, "CONSTRAINT",
                 "Only splits of which this holds, such as 'latency_p50 < 80ms'; repeatable");
  command->add_option("--rate", options->rate, "Images a second that arrive on their own: the latency under that load")
      ->check(CLI::PositiveNumber)
      ->type_name("IMAGES");
  command->add_option(
      "--fit", options->fit,
      "Fit what the pipeline adds to the profiles to the trials in this results folder, or records file");
  auto* check =
      command->add_option("--check", options->check,
                          "Compare the profiles with this results folder, or records file, instead of predicting");
  command->add_option("--within", options->within, "With --check: median error up to which the profiles hold")
      ->type_name("SHARE")
      ->needs(check)
      ->capture_default_str();
  add_format_option(*command, options->format, {"table", "csv", "json", kPage});
  add_out_option(*command, options->out);
  command->callback([options, &chosen] { chosen = [options] { return run_predict(*options); }; });
}

}  // namespace paretopipe::cli
