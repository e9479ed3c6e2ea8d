#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe {

/// The moments of every micro-batch in one stage: one entry per micro-batch in the order of issue, in nanoseconds of a
/// steady clock. The holder of the timeline says which clock and which origin. A batch that is not cut is one
/// micro-batch. Successive moments of a micro-batch never decrease:
///
///   receive_begin ≤ receive_end ≤ ready ≤ compute_begin ≤ compute_end ≤ encoded ≤ codec_begin ≤ send_begin ≤ send_end
///
/// Stage 0 receives nothing: its first three moments are when the micro-batch's batch was handed to the pipeline. A
/// stage that sends nothing (all local) has codec_begin = send_begin = send_end = encoded.
struct StageTimeline {
  std::vector<std::int64_t> receive_begin;  ///< the frame's header has arrived
  std::vector<std::int64_t> receive_end;    ///< the last byte is in the tensor
  std::vector<std::int64_t> ready;          ///< decoded, waiting for the compute thread
  std::vector<std::int64_t> compute_begin;
  std::vector<std::int64_t> compute_end;
  std::vector<std::int64_t> encoded;  ///< dense and in host memory, not yet with a codec; waiting for the send thread
  std::vector<std::int64_t>
      codec_begin;                       ///< the send thread begins to encode with the link's codec; send_begin if none
  std::vector<std::int64_t> send_begin;  ///< the first byte is about to be handed to the kernel
  std::vector<std::int64_t> send_end;    ///< the kernel has accepted the last byte

  bool operator==(const StageTimeline&) const = default;
};

/// All fields but `codec_begin`. It is left out where it equals `send_begin`: without a codec, and in records written
/// before this moment existed.
inline const std::tuple kStageTimelineFields{field("receive_begin", &StageTimeline::receive_begin),
                                             field("receive_end", &StageTimeline::receive_end),
                                             field("ready", &StageTimeline::ready),
                                             field("compute_begin", &StageTimeline::compute_begin),
                                             field("compute_end", &StageTimeline::compute_end),
                                             field("encoded", &StageTimeline::encoded),
                                             field("send_begin", &StageTimeline::send_begin),
                                             field("send_end", &StageTimeline::send_end)};

template <class Json>
void to_json(Json& json, const StageTimeline& stage) {
  write_fields(json, stage, kStageTimelineFields);
  if (stage.codec_begin != stage.send_begin) json["codec_begin"] = stage.codec_begin;
}
template <class Json>
void from_json(const Json& json, StageTimeline& stage) {
  read_fields(json, stage, kStageTimelineFields);
  stage.codec_begin = json.value("codec_begin", stage.send_begin);
}

/// Every moment of a StageTimeline, in order.
inline constexpr std::array kStageMoments{
    &StageTimeline::receive_begin, &StageTimeline::receive_end, &StageTimeline::ready,
    &StageTimeline::compute_begin, &StageTimeline::compute_end, &StageTimeline::encoded,
    &StageTimeline::codec_begin,   &StageTimeline::send_begin,  &StageTimeline::send_end};
/// The names of these moments in records and exports, in the same order.
inline constexpr std::array<std::string_view, kStageMoments.size()> kStageMomentNames{
    "receive_begin", "receive_end", "ready",      "compute_begin", "compute_end",
    "encoded",       "codec_begin", "send_begin", "send_end"};

/// The moments of every micro-batch's result back at stage 0. If no link is crossed, all three follow `encoded`
/// directly.
struct ResultTimeline {
  std::vector<std::int64_t> receive_begin;
  std::vector<std::int64_t> receive_end;
  std::vector<std::int64_t> completed;  ///< decoded; a batch's latency ends here with its last micro-batch

  bool operator==(const ResultTimeline&) const = default;
};
PARETOPIPE_JSON(ResultTimeline, receive_begin, receive_end, completed)

/// Every moment of a ResultTimeline, in order.
inline constexpr std::array kResultMoments{&ResultTimeline::receive_begin, &ResultTimeline::receive_end,
                                           &ResultTimeline::completed};
inline constexpr std::array<std::string_view, kResultMoments.size()> kResultMomentNames{"receive_begin", "receive_end",
                                                                                        "completed"};

/// The moments of every batch of a Server phase: one entry per batch in the order of arrival, in nanoseconds of stage
/// 0's steady clock. A batch's successive moments never decrease. Latency is `completed` − `scheduled`, so that waiting
/// behind a late batch counts (no coordinated omission).
struct ServerTimeline {
  std::vector<std::int64_t> scheduled;    ///< its arrival, fixed before the phase began
  std::vector<std::int64_t> handed_over;  ///< to the pipeline: it had arrived and fewer than `depth` were in flight
  std::vector<std::int64_t> completed;    ///< the result of its last micro-batch is back

  bool operator==(const ServerTimeline&) const = default;
};
PARETOPIPE_JSON(ServerTimeline, scheduled, handed_over, completed)

/// Deals a phase's batches out to devices that each hold the whole model: in turn, starting with the first device in
/// every phase. Phases follow one another, so batch b belongs to phase b / phase_batches.
struct Deal {
  std::size_t devices = 1;
  std::size_t phase_batches = 1;  ///< at least as many as devices, so that each has a share

  std::size_t device_of(std::size_t batch) const { return batch % phase_batches % devices; }

  /// The number of batches of each phase that a device gets.
  std::size_t share_of(std::size_t device) const { return (phase_batches + devices - 1 - device) / devices; }

  /// A batch of a device's share. `own` counts the batches of this device from 0 through all phases.
  std::size_t batch_of(std::size_t device, std::size_t own) const {
    const auto share = share_of(device);
    return own / share * phase_batches + own % share * devices + device;
  }
};

}  // namespace paretopipe
