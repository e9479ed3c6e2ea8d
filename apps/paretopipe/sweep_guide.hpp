#pragma once
#include <paretopipe/run/guided_sweep.hpp>
#include <paretopipe/run/prepare_sweep.hpp>

#include <filesystem>
#include <optional>
#include <vector>

#include "sweep_setup.hpp"

// What predicts which splits a sweep measures: profiles that somebody names, or that the sweep makes for itself.

namespace paretopipe::cli {

class SweepGuide {
 public:
  /// `options`, `experiment` and `executor` must outlive the guide. Throws UsageError for settings that cannot be
  /// guided.
  SweepGuide(const SweepOptions& options, const experiment::Experiment& experiment, run::PipelineExecutor& executor,
             const std::filesystem::path& folder);

  /// False if every split is to be measured.
  bool wanted() const { return !options_.guided.empty() || best_; }

  /// Throws UsageError for a plan or named profiles that cannot guide, before anything is measured.
  void check(const std::vector<experiment::Trial>& plan) const;

  /// Profiles are made now unless somebody named them, or they were made here before and still are of these devices.
  /// The result borrows from this object. Throws what guiding_question() and profile_devices() do.
  run::Guidance guidance(const std::vector<experiment::Trial>& plan) const;

 private:
  predict::Question question(const std::vector<experiment::Trial>& plan) const;

  /// Profiles of the devices as they are now, which are kept beside the records.
  std::vector<predict::Profile> profile_again() const;

  const SweepOptions& options_;
  const experiment::Experiment& experiment_;
  run::PipelineExecutor& executor_;
  std::filesystem::path file_;
  bool best_;
  double within_ = run::kNearTie;
};

/// What a guided sweep found out about its predictions. `folder`: of the records.
void print_guided(const run::GuidedOutcome& outcome, const std::filesystem::path& folder);

}  // namespace paretopipe::cli
