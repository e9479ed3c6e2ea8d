#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace paretopipe {

/// The moments of every micro-batch in one stage on its way through all stages, in one of the two directions. There is
/// one entry per micro-batch through all steps, in nanoseconds of a steady clock. A stage that receives or sends
/// nothing in this direction has no such moments, and without a codec nothing is decoded or encoded. Successive moments
/// of a micro-batch never decrease. Records of older releases have `encoded` and no `codec_begin`: there, the compute
/// thread encoded right after it had computed.
struct PassTimeline {
  std::vector<std::int64_t> receive_begin;  ///< the frame's header has arrived
  std::vector<std::int64_t> receive_end;    ///< the last byte is in the tensor
  std::vector<std::int64_t> ready;          ///< decoded
  std::vector<std::int64_t> compute_begin;
  std::vector<std::int64_t> compute_end;
  std::vector<std::int64_t> codec_begin;  ///< the send thread begins to encode
  std::vector<std::int64_t> encoded;      ///< with the codec
  std::vector<std::int64_t> send_begin;   ///< the first byte is about to be handed to the kernel
  std::vector<std::int64_t> send_end;     ///< the kernel has accepted the last byte

  bool operator==(const PassTimeline&) const = default;
};
/// The codec's moments are left out if there is no codec. Records from before training had codecs lack them too.
PARETOPIPE_JSON_UNLESS_USUAL(PassTimeline,
                             (receive_begin, receive_end, compute_begin, compute_end, send_begin, send_end),
                             (ready, codec_begin, encoded))

inline constexpr std::array kPassMoments{
    &PassTimeline::receive_begin, &PassTimeline::receive_end, &PassTimeline::ready,
    &PassTimeline::compute_begin, &PassTimeline::compute_end, &PassTimeline::codec_begin,
    &PassTimeline::encoded,       &PassTimeline::send_begin,  &PassTimeline::send_end};

/// The moments of a stage that trains. At the last stage the loss is part of a micro-batch's forward.
struct TrainingTimeline {
  PassTimeline forward;
  PassTimeline backward;
  std::vector<std::int64_t> reduce_begin;  ///< of each sum of the gradients of all replicas; empty without replicas
  std::vector<std::int64_t> reduce_end;
  std::vector<std::int64_t> update_begin;  ///< of each update of the stage's weights
  std::vector<std::int64_t> update_end;

  bool operator==(const TrainingTimeline&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(TrainingTimeline, (forward, backward, update_begin, update_end),
                             (reduce_begin, reduce_end))

}  // namespace paretopipe
