#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/stage/envelope.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// The only control messages that may come while another request is being carried out.
namespace paretopipe::stage {

/// The role of a thread in a run.
enum class Role { compute, receive, send };
NLOHMANN_JSON_SERIALIZE_ENUM(Role, {{Role::compute, "compute"}, {Role::receive, "receive"}, {Role::send, "send"}})

/// The current activity of a thread.
enum class Doing {
  waiting,  ///< for the next micro-batch: from the link, the source, or the thread before it
  working,  ///< on a micro-batch: computes, encodes or decodes it, or compares a result
  sending,  ///< hands bytes to the kernel
  held_up,  ///< by the next thread, which has not taken the finished micro-batch
};
NLOHMANN_JSON_SERIALIZE_ENUM(Doing, {{Doing::waiting, "waiting"},
                                     {Doing::working, "working"},
                                     {Doing::sending, "sending"},
                                     {Doing::held_up, "held_up"}})

/// The state of one thread of a run at one moment.
struct LaneReport {
  Role role = Role::compute;
  int peer = -1;  ///< the stage at the other end of its link; -1: it serves no link
  Doing doing = Doing::waiting;
  std::int64_t done = 0;   ///< finished micro-batches
  std::int64_t bytes = 0;  ///< that crossed its end of the link since the link was made

  bool operator==(const LaneReport&) const = default;
};
PARETOPIPE_JSON(LaneReport, role, peer, doing, done, bytes)

/// Asks a stage where it is. This is the only request that may be sent while another one is being carried out. A
/// dedicated thread answers it at once, so its answer may come before the other's.
struct WhereAreYou : NoFields {
  static constexpr std::string_view kType = "where_are_you";
};

struct Whereabouts {
  static constexpr std::string_view kType = "whereabouts";
  std::int64_t at_ns = 0;               ///< of the stage's steady clock
  std::int64_t cpu_time_ns = 0;         ///< of the process so far, without the answering thread
  std::int64_t longest_compute_ns = 0;  ///< of any micro-batch of this run; 0: none has been computed yet
  std::vector<LaneReport> lanes;        ///< of the current run; empty if there is none
};
PARETOPIPE_JSON(Whereabouts, at_ns, cpu_time_ns, longest_compute_ns, lanes)

}  // namespace paretopipe::stage
