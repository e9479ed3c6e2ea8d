#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe {

/// The moments of every micro-batch in one stage on its way through all stages, in one of the two directions: one entry
/// per micro-batch through all steps, in nanoseconds of a steady clock. A stage that receives or sends nothing in this
/// direction has no such moments. Successive moments of a micro-batch never decrease.
struct PassTimeline {
  std::vector<std::int64_t> receive_begin;  ///< the frame's header has arrived
  std::vector<std::int64_t> receive_end;    ///< the last byte is in the tensor
  std::vector<std::int64_t> compute_begin;
  std::vector<std::int64_t> compute_end;
  std::vector<std::int64_t> send_begin;  ///< the first byte is about to be handed to the kernel
  std::vector<std::int64_t> send_end;    ///< the kernel has accepted the last byte

  bool operator==(const PassTimeline&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PassTimeline, receive_begin, receive_end, compute_begin, compute_end, send_begin,
                                   send_end)

inline constexpr std::array kPassMoments{&PassTimeline::receive_begin, &PassTimeline::receive_end,
                                         &PassTimeline::compute_begin, &PassTimeline::compute_end,
                                         &PassTimeline::send_begin,    &PassTimeline::send_end};

/// The moments of a stage that trains. At the last stage the loss is part of a micro-batch's forward.
struct TrainingTimeline {
  PassTimeline forward;
  PassTimeline backward;
  std::vector<std::int64_t> update_begin;  ///< of each update of the stage's weights
  std::vector<std::int64_t> update_end;

  bool operator==(const TrainingTimeline&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrainingTimeline, forward, backward, update_begin, update_end)

}  // namespace paretopipe
