#pragma once
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/schedule.hpp>
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/stage/messages.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::run {

/// The stages that take part in a trial: stage 0 alone if all is local.
int participants(const experiment::Trial& trial);

/// The extent of this many steps of a trial that trains.
experiment::TrainingExtent training_extent(const experiment::Trial& trial, int steps);

/// The codec of the link from stage `from` to the next one. None on the way back of the results, and where batches are
/// dealt out.
codec::Codec codec_of_link(const experiment::Trial& trial, int from);

/// True if a codec changes the results, or the trained weights.
bool has_lossy_codec(const experiment::Trial& trial);

/// Requests for one trial, one per participating stage. Split points may leave a middle stage without blocks: it passes
/// on its input. `model` and `ends` describe one micro-batch, which is the whole batch if that is not cut.
std::vector<stage::Run> make_run_requests(const experiment::Trial& trial, const experiment::ModelDescription& model,
                                          const stage::Ends& ends, std::uint32_t tag);

/// The requests that prepare the stages for these runs.
std::vector<stage::Prepare> make_prepare_requests(const std::vector<stage::Run>& runs, const stage::Ends& ends);

}  // namespace paretopipe::run
