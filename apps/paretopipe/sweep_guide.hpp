#pragma once
#include <paretopipe/run/guided_sweep.hpp>
#include <paretopipe/run/prepare_sweep.hpp>

#include <filesystem>
#include <optional>
#include <vector>

#include "sweep_setup.hpp"

// Predicts which splits a sweep measures, by profiles that somebody names or that the sweep makes itself.

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

  /// Makes profiles now, unless somebody named some, or some were made here before and still are of these devices. The
  /// result borrows from this object. Throws what guiding_question() and profile_devices() do.
  run::Guidance guidance(const std::vector<experiment::Trial>& plan) const;

 private:
  predict::Question question(const std::vector<experiment::Trial>& plan) const;

  /// Profiles the devices as they are now, and keeps that beside the records.
  std::vector<predict::Profile> profile_again() const;

  const SweepOptions& options_;
  const experiment::Experiment& experiment_;
  run::PipelineExecutor& executor_;
  std::filesystem::path file_;
  bool best_;
  double within_ = run::kNearTie;
};

/// Prints what a guided sweep found out about its predictions. `folder` has the records.
void print_guided(const run::GuidedOutcome& outcome, const std::filesystem::path& folder);

}  // namespace paretopipe::cli
