#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::stage {

/// What a thread of a run is there for.
enum class Role { compute, receive, send };
NLOHMANN_JSON_SERIALIZE_ENUM(Role, {{Role::compute, "compute"}, {Role::receive, "receive"}, {Role::send, "send"}})

/// What it does at the moment.
enum class Doing {
  waiting,  ///< for the next micro-batch: from the link, the source, or the thread before it
  working,  ///< on a micro-batch: computes it, decodes it, or compares a result
  sending,  ///< hands bytes to the kernel
  held_up,  ///< by the thread after it, which has not taken what is ready
};
NLOHMANN_JSON_SERIALIZE_ENUM(Doing, {{Doing::waiting, "waiting"},
                                     {Doing::working, "working"},
                                     {Doing::sending, "sending"},
                                     {Doing::held_up, "held_up"}})

/// One thread of a run, at one moment.
struct LaneReport {
  Role role = Role::compute;
  int peer = -1;  ///< the stage at the other end of the link that it serves; -1: it serves none
  Doing doing = Doing::waiting;
  std::int64_t done = 0;   ///< micro-batches that it is through with
  std::int64_t bytes = 0;  ///< that crossed its end of the link, since the link was made

  bool operator==(const LaneReport&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaneReport, role, peer, doing, done, bytes)

/// Asks a stage where it is. The one request that may be sent while another one is being carried out: a thread of its
/// own answers it at once, so that its answer may come before the other's.
struct WhereAreYou {
  static constexpr std::string_view kType = "where_are_you";
};
inline void to_json(nlohmann::json& json, const WhereAreYou&) {
  json = nlohmann::json::object();
}
inline void from_json(const nlohmann::json&, WhereAreYou&) {}

struct Whereabouts {
  static constexpr std::string_view kType = "whereabouts";
  std::int64_t at_ns = 0;               ///< of the stage's steady clock
  std::int64_t cpu_time_ns = 0;         ///< of the process so far, but for the thread that answers
  std::int64_t longest_compute_ns = 0;  ///< of any micro-batch of this run; 0: none has been computed yet
  std::vector<LaneReport> lanes;        ///< of the run that is under way; none where no run is
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Whereabouts, at_ns, cpu_time_ns, longest_compute_ns, lanes)

}  // namespace paretopipe::stage
