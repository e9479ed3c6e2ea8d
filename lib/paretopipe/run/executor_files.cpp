// How an executor gives this machine's files to stages on other machines.
#include <paretopipe/experiment/data_files.hpp>
#include <paretopipe/run/pipeline_executor.hpp>

namespace paretopipe::run {

/// True if the stage is on another machine, which has none of this one's files.
bool PipelineExecutor::elsewhere(const experiment::UncutTrial& trial, std::size_t stage) const {
  return !trial.on.empty() && !options_.devices.at(trial.on[stage]).local();
}

/// The request with the paths of the archive and of the weights on the stage's machine.
stage::ModelRequest PipelineExecutor::with_files_of(std::size_t stage, const experiment::UncutTrial& trial,
                                                    stage::ModelRequest request) {
  if (!elsewhere(trial, stage)) return request;
  const auto place = [&](const std::string& sha256, const std::string& file) {
    return pipeline_->place_file(static_cast<int>(stage), sha256, file);
  };
  if (request.archive) request.model = place(request.archive->sha256, request.model);
  if (!request.weights.empty()) request.weights = place(trial.weights_sha256, request.weights);
  return request;
}

/// The request with the paths of the data and of their labels there.
stage::ModelRequest PipelineExecutor::with_data_of(std::size_t stage, const experiment::Trial& trial,
                                                   stage::ModelRequest request) {
  if (!elsewhere(trial, stage)) return request;
  const auto there = static_cast<int>(stage);
  if (const auto files = experiment::files_of_data(request.data, request.labels); !files.empty()) {
    request.data = experiment::data_in_folder(request.data, pipeline_->place_files(there, files));
  }
  if (!request.labels.empty() && request.labels != experiment::kOwnLabels) {
    request.labels = pipeline_->place_file(there, trial.data_identity.labels, request.labels);
  }
  return request;
}

}  // namespace paretopipe::run
