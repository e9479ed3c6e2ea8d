#pragma once
#include <paretopipe/core/error.hpp>
#include <paretopipe/run/pipeline_executor.hpp>

#include <filesystem>

namespace paretopipe::bench {

inline run::ExecutorOptions options_with(const std::filesystem::path& stage_program) {
  run::ExecutorOptions options;
  options.stage_program = stage_program;
  return options;
}

/// Throws EnvironmentError if the trial fails.
inline record::TrialRecord run_trial(run::PipelineExecutor& executor, const experiment::Trial& trial) {
  auto record = executor.run(trial);
  if (!record.summary) throw EnvironmentError("a trial of the benchmark failed: " + record.failure->reason);
  return record;
}

}  // namespace paretopipe::bench
