#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/stage/backend.hpp>

namespace paretopipe::script {

/// The chain of blocks that the request's archive is, for its batch size: loads the archive, finds its cuts, and runs
/// it once on zeros, in eager mode with the request's type and memory format, of whose parameters no more is in memory
/// than what lies between two neighbouring cuts. A value that a link cannot carry unchanged (another type, or numbers
/// that do not lie densely in that order) is no cut. Call under c10::InferenceMode. Throws UsageError as load_archive
/// does, and for an archive that refuses the batch, or whose result is not one row for each sample.
config::ModelDescription describe_archive(const stage::ModelRequest& request);

}  // namespace paretopipe::script
