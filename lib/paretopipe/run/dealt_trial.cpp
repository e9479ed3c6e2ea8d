#include "dealt_trial.hpp"

#include <paretopipe/core/deal.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>

#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {
namespace {

void copy_moments(StageTimeline& to, std::size_t entry, const StageTimeline& from, std::size_t own) {
  for (const auto moment : kStageMoments) (to.*moment)[entry] = (from.*moment)[own];
}

/// A batch that the source computes itself stays in place: all moments of its dispatch are that of its hand-over.
void stay(StageTimeline& dispatch, StageTimeline& device, std::size_t entry) {
  const auto handed_over = dispatch.receive_begin[entry];
  copy_moments(device, entry, dispatch, entry);
  for (const auto moment : kStageMoments) (dispatch.*moment)[entry] = handed_over;
}

}  // namespace

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

void gather_dealt(record::PhaseSamples& samples, int devices) {
  const auto micro_batches = static_cast<std::size_t>(samples.micro_batches);
  auto dispatch = std::move(samples.stages.front());
  const auto entries = dispatch.receive_begin.size();
  const Deal deal{static_cast<std::size_t>(devices), entries / micro_batches};
  StageTimeline device_side;
  for (const auto moment : kStageMoments) (device_side.*moment).resize(entries);
  for (std::size_t device = 0; device < deal.devices; ++device) {
    const auto& own_side = samples.stages[device];
    const auto own_entries = deal.share_of(device) * micro_batches;
    if (device > 0 && own_side.ready.size() != own_entries) {
      throw Error(ExitCode::internal, fmt::format("device {} reported {} of the {} micro-batches that it was dealt",
                                                  device, own_side.ready.size(), own_entries));
    }
    for (std::size_t own = 0; own < own_entries; ++own) {
      const auto entry = deal.batch_of(device, own / micro_batches) * micro_batches + own % micro_batches;
      if (device == 0) {
        stay(dispatch, device_side, entry);
      } else {
        copy_moments(device_side, entry, own_side, own);
      }
    }
  }
  samples.devices = devices;
  samples.stages = {std::move(dispatch), std::move(device_side)};
}

std::vector<record::LinkPayload> dealt_payloads(const plan::Trial& trial, const config::ModelDescription& model) {
  const auto headers = trial.micro_batches() * static_cast<std::int64_t>(wire::kHeaderBytes);
  std::vector<record::LinkPayload> links;
  for (int device = 1; device < trial.data_parallel; ++device) {
    links.push_back({0, device, trial.micro_batches() * model.bytes_at(0), headers});
    links.push_back({device, 0, trial.micro_batches() * model.bytes_at(trial.block_count), headers});
  }
  return links;
}

}  // namespace paretopipe::run
