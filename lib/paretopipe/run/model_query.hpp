#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/stage/backend.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace paretopipe::run {

/// Asks a stage process, started for this question, which models it knows. Forms with parameters come as a pattern
/// ("synthetic:DURATION/BYTES,…"). Throws EnvironmentError if the program cannot be started.
std::vector<std::string> list_models(const std::filesystem::path& stage_program);

/// Asks a stage process, started for this question, for one model. Throws UsageError if it does not know the model.
config::ModelDescription describe_model(const std::filesystem::path& stage_program, const stage::ModelRequest& request);

}  // namespace paretopipe::run
