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

/// What is trained in so many steps of a trial that trains.
experiment::TrainingExtent training_extent(const experiment::Trial& trial, int steps);

/// The codec of what goes from stage `from` to the next one; none on the way back of the results, and where batches are
/// dealt out.
codec::Codec codec_of_link(const experiment::Trial& trial, int from);

/// Results, or trained weights, are then not those without a codec.
bool has_lossy_codec(const experiment::Trial& trial);

/// Requests for one trial, one per participating stage. Split points may leave a middle stage without blocks: it passes
/// on its input. `model` and `ends` describe one micro-batch, which is the whole batch if that is not cut.
std::vector<stage::Run> make_run_requests(const experiment::Trial& trial, const experiment::ModelDescription& model,
                                          const stage::Ends& ends, std::uint32_t tag);

/// What the stages are to prepare for these runs.
std::vector<stage::Prepare> make_prepare_requests(const std::vector<stage::Run>& runs, const stage::Ends& ends);

}  // namespace paretopipe::run
