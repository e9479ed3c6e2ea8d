#pragma once
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/stage/backend.hpp>

namespace paretopipe::archive {

/// Describes the request's archive as a chain of blocks for its batch size. It loads the archive, finds its cuts, and
/// runs it once on zeros, or on noise if it is to be trained, in eager mode with the request's type and memory format.
/// At any time, only the parameters between two neighbouring cuts are in memory. A value that a link cannot carry
/// unchanged (another type, or numbers that are not dense in that order) is no cut. Throws UsageError as load_archive
/// does, and for an archive that refuses the batch or whose result is not one row for each sample. Call under
/// c10::InferenceMode.
experiment::ModelDescription describe_archive(const stage::ModelRequest& request);

}  // namespace paretopipe::archive
