#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/run/trial_requests.hpp>

#include <algorithm>
#include <utility>

namespace paretopipe::run {

codec::Codec codec_of_link(const experiment::Trial& trial, int from) {
  if (trial.data_parallel > 0 || from + 1 >= trial.stage_count()) return {};
  return experiment::codec_of_cut(trial.codec, static_cast<std::size_t>(from));
}

int participants(const experiment::Trial& trial) {
  return trial.all_local() ? 1 : trial.stage_count();
}

experiment::TrainingExtent training_extent(const experiment::Trial& trial, int steps) {
  const int replicas = std::max(1, trial.data_parallel);
  return {replicas > 1 ? 1 : participants(trial), trial.micro_batches() / replicas, steps, replicas};
}

bool has_lossy_codec(const experiment::Trial& trial) {
  for (int from = 0; from + 1 < participants(trial); ++from) {
    if (codec_of_link(trial, from).lossy()) return true;
  }
  return false;
}

namespace {

/// What stage `stage` receives: the tensors at the cut before it; at the source, the results.
stage::Boundary incoming_of(const experiment::Trial& trial, const experiment::ModelDescription& model,
                            const stage::Ends& ends, int stage) {
  if (stage == 0) return {ends.result};
  if (trial.data_parallel > 0) return {ends.input};
  const int split = trial.split_points[static_cast<std::size_t>(stage) - 1];
  if (split == 0) return {ends.input};
  if (split == trial.block_count) return {ends.result};
  stage::Boundary boundary;
  for (auto& shape : model.shapes_at(split))
    boundary.push_back(stage::activation_spec(trial.compute, std::move(shape)));
  return boundary;
}

/// Turns the requests of one whole run into those for the source and for the shares of the other devices.
void deal_out(std::vector<stage::Run>& requests) {
  const auto devices = static_cast<int>(requests.size());
  for (int device = 0; device < devices; ++device) {
    auto& request = requests[static_cast<std::size_t>(device)];
    request.devices = devices;
    request.device = device;
    if (device == 0) continue;
    const auto share = requests.front().deal().share_of(static_cast<std::size_t>(device));
    request.stage_count = 2;
    request.warmup = 0;  // the source's record decides which batches count
    request.batches = static_cast<int>(share);
  }
}

}  // namespace

std::vector<stage::Prepare> make_prepare_requests(const std::vector<stage::Run>& runs, const stage::Ends& ends) {
  std::vector<stage::Prepare> requests;
  for (const auto& run : runs)
    requests.push_back({run.blocks, requests.empty() ? stage::Boundary{ends.input} : run.incoming});
  return requests;
}

std::vector<stage::Run> make_run_requests(const experiment::Trial& trial, const experiment::ModelDescription& model,
                                          const stage::Ends& ends, std::uint32_t tag) {
  std::vector<stage::Run> requests;
  const auto blocks = trial.stage_blocks();
  for (int stage = 0; stage < participants(trial); ++stage) {
    stage::Run request;
    request.tag = tag;
    request.stage_count = participants(trial);
    request.blocks = blocks[static_cast<std::size_t>(stage)];
    request.incoming = incoming_of(trial, model, ends, stage);
    if (stage > 0) request.incoming_codec = codec_of_link(trial, stage - 1);
    if (stage + 1 < participants(trial)) request.outgoing_codec = codec_of_link(trial, stage);
    request.warmup = trial.warmup;
    request.batches = trial.batches;
    request.depth = trial.depth;
    request.micro_batches = trial.micro_batches();
    request.phases = trial.phases;
    requests.push_back(request);
  }
  if (trial.data_parallel > 0) deal_out(requests);
  return requests;
}

}  // namespace paretopipe::run
