#include "sweep_guide.hpp"

#include <paretopipe/experiment/partitions.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/output.hpp>
#include <paretopipe/run/profile_devices.hpp>

#include <unistd.h>

#include <fmt/format.h>

#include "load_profiles.hpp"
#include "terminal.hpp"

namespace paretopipe::cli {

namespace {

/// A few rounds suffice to choose splits, because what is chosen is measured.
constexpr int kGuidingRounds = 5;

/// Where profile_beside() looks for it, once the folder has records.
std::filesystem::path kept_in(const std::filesystem::path& folder) {
  return folder / profile_beside(folder).filename();
}

void check_settings(const SweepOptions& options, const experiment::Experiment& experiment) {
  if (experiment.repeat.adaptive || options.shard != experiment::Shard{} || !options.against.empty()) {
    throw UsageError(
        "predictions decide after each round what to measure next: leave out --repeat auto, --shard and --against, or "
        "--guided and --partitions best");
  }
  if (!experiment.codec_inputs.empty()) {
    throw UsageError(
        "profiles do not know how long codecs of images take: leave out --codec-input, or --guided and --partitions "
        "best");
  }
}

}  // namespace

SweepGuide::SweepGuide(const SweepOptions& options, const experiment::Experiment& experiment,
                       run::PipelineExecutor& executor, const std::filesystem::path& folder)
    : options_(options),
      experiment_(experiment),
      executor_(executor),
      file_(kept_in(folder)),
      best_(experiment::wants_best(experiment)) {
  if (wanted()) check_settings(options, experiment);
  if (options.within.empty()) return;
  if (!wanted()) throw UsageError("--within is for guided sweeps: give --partitions best or --guided, too");
  within_ = parse_probability(options.within);
}

void SweepGuide::check(const std::vector<experiment::Trial>& plan) const {
  if (wanted()) run::check_guided_plan(plan);
  if (!options_.guided.empty()) question(plan);
}

run::Guidance SweepGuide::guidance(const std::vector<experiment::Trial>& plan) const {
  return {question(plan), within_, [this] { return profile_again(); }};
}

predict::Question SweepGuide::question(const std::vector<experiment::Trial>& plan) const {
  std::vector<predict::Profile> profiles;
  for (const auto& file : options_.guided) profiles.push_back(predict::load_profile(file));
  std::error_code unknown;
  if (profiles.empty() && std::filesystem::exists(file_, unknown)) {
    profiles.push_back(predict::load_profile(file_));
    const auto why = run::why_outdated(profiles.front(), plan, executor_.provenance_now());
    if (!why.empty()) {
      print_notice("{}: {}, so it is made again\n", file_.string(), why);
      profiles.clear();
    }
  }
  if (profiles.empty()) profiles = profile_again();
  return run::guiding_question(std::move(profiles), plan);
}

std::vector<predict::Profile> SweepGuide::profile_again() const {
  auto experiment = experiment_;
  experiment.networks = {"unshaped"};
  experiment.shaping = "none";
  const auto progress = [](const std::string& what) {
    if (::isatty(STDERR_FILENO) != 0) print_notice("\nprofiling {}\n", what);
  };
  auto profile = run::profile_devices(experiment, run::find_inputs(experiment), kGuidingRounds, executor_, progress);
  std::filesystem::create_directories(file_.parent_path());
  render::write_file(file_, nlohmann::json(profile).dump() + "\n");
  return {std::move(profile)};
}

void print_guided(const run::GuidedOutcome& outcome, const std::filesystem::path& folder) {
  if (outcome.remade) {
    fmt::print("The profile of {} was wrong by {:.0f} % in the median, so it was made again: {}.\n",
               outcome.remade->made_at, 100 * outcome.remade->median_error, kept_in(folder).string());
  }
  fmt::print("{} of {} measured", outcome.measured,
             record::quantity(static_cast<std::size_t>(outcome.splits), "split"));
  if (!outcome.margins) {
    fmt::print(", none of them with a result: nothing is known of the frontier\n");
    return;
  }
  fmt::print(", {} of them drawn as a check", outcome.drawn);
  if (outcome.cut_short > 0) {
    fmt::print(", {} not with every repetition, for others are as good or better, or nearly so", outcome.cut_short);
  }
  fmt::print(". Predictions of these were off by {:.1f} % in the median and {:.1f} % at worst.\n",
             100 * outcome.median_error, 100 * outcome.worst_error);
  if (outcome.remade && outcome.median_error > run::kWrongProfile) {
    fmt::print(
        "The new profile is wrong by as much: trials take another time than what was profiled, and nothing says "
        "why.\n");
  }
  if (outcome.without_result > 0) {
    fmt::print("{} of these failed in every trial and may be on the frontier; --resume tries again.\n",
               outcome.without_result);
  }
  if (outcome.measured == outcome.splits) return;
  fmt::print(
      "For every unmeasured split there is a measured one with at most {0:g} % more latency and {0:g} % less "
      "throughput, unless the split's latency is predicted too long by more than {1:.1f} %, "
      "or its throughput too low by more than {2:.1f} %.\n",
      100 * outcome.within, 100 * outcome.margins->latency, 100 * outcome.margins->throughput);
}

}  // namespace paretopipe::cli
