#include <paretopipe/run/stall.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

using stage::Doing;
using stage::Role;

constexpr char kStopped = 'T';

/// A process that waits for ever uses no CPU time; threads with occasional chores use less than this.
bool idle(Nanoseconds cpu_time, Nanoseconds meanwhile) {
  return cpu_time < std::chrono::milliseconds(1) + meanwhile / 1000;
}

std::string seconds(Nanoseconds duration) {
  const double value = std::chrono::duration<double>(duration).count();
  return value < 10 ? fmt::format("{:.1f} s", value) : fmt::format("{:.0f} s", value);
}

std::string_view occupation(Role role) {
  switch (role) {
    case Role::compute:
      return "computing the same batch";
    case Role::send:
      return "encoding the same batch";
    case Role::receive:
      break;
  }
  return "taking in the same result or input";
}

Nanoseconds standing(const StageSight& sight, const LaneSight& lane) {
  return Nanoseconds(sight.last.at_ns - lane.since_ns);
}

Nanoseconds cpu_time(const StageSight& sight, const LaneSight& lane) {
  return Nanoseconds(sight.last.cpu_time_ns - lane.cpu_time_then_ns);
}

bool answers(const StageSight& sight) {
  return sight.silent == Nanoseconds(0) && !sight.replied;
}

/// How long a stage may take for a micro-batch without CPU time.
Nanoseconds patience(const StageSight& sight, const StallLimits& limits) {
  if (sight.last.longest_compute_ns == 0) return limits.unsure;
  const auto usual = Nanoseconds(sight.last.longest_compute_ns) * limits.times_longest;
  return std::max(limits.standstill, std::chrono::duration_cast<Nanoseconds>(usual));
}

/// The thread that has been at one micro-batch for too long; null if there is none.
const LaneSight* stuck(const StageSight& sight, const StallLimits& limits) {
  if (!answers(sight)) return nullptr;
  const auto found = std::find_if(sight.lanes.begin(), sight.lanes.end(), [&](const LaneSight& lane) {
    return lane.report.doing == Doing::working && standing(sight, lane) >= patience(sight, limits);
  });
  return found == sight.lanes.end() ? nullptr : &*found;
}

std::string longest_so_far(const StageSight& sight) {
  if (sight.last.longest_compute_ns == 0) return "it is the first one";
  return fmt::format("none took it longer than {:.3g} s before",
                     std::chrono::duration<double>(Nanoseconds(sight.last.longest_compute_ns)).count());
}

std::vector<Accusation> silent_ones(std::span<const StageSight> sights, const StallLimits& limits) {
  std::vector<Accusation> found;
  for (const auto& sight : sights) {
    if (sight.replied) continue;
    if (sight.state == kStopped && sight.silent >= limits.stopped) {
      found.push_back({sight.stage, fmt::format("hangs: its process is stopped (SIGSTOP), and has not answered for {}",
                                                seconds(sight.silent))});
    } else if (sight.unseen && std::min(sight.silent, sight.lifeless) >= limits.lifeless) {
      found.push_back(
          {sight.stage, fmt::format("has vanished: for {} it has not answered, nor has its guard there given a "
                                    "sign of life; look at its machine and the network to it",
                                    seconds(sight.lifeless))});
    } else if (sight.unseen && sight.silent >= limits.unseen) {
      found.push_back({sight.stage, fmt::format("hangs: it has not answered for {}", seconds(sight.silent))});
    } else if (!sight.unseen && sight.silent >= limits.unsure && !sight.used_cpu) {
      found.push_back({sight.stage, fmt::format("hangs: it has not answered for {}, in which it used no CPU time",
                                                seconds(sight.silent))});
    }
  }
  return found;
}

std::vector<Accusation> hung_ones(std::span<const StageSight> sights, const StallLimits& limits) {
  std::vector<Accusation> found;
  for (const auto& sight : sights) {
    const auto* lane = stuck(sight, limits);
    if (lane == nullptr || !idle(cpu_time(sight, *lane), standing(sight, *lane))) continue;
    found.push_back({sight.stage, fmt::format("hangs: it has been {} for {} without using CPU time, and {}",
                                              occupation(lane->report.role), seconds(standing(sight, *lane)),
                                              longest_so_far(sight))});
  }
  return found;
}

const StageSight* find_stage(std::span<const StageSight> sights, int stage) {
  const auto found =
      std::find_if(sights.begin(), sights.end(), [stage](const auto& sight) { return sight.stage == stage; });
  return found == sights.end() ? nullptr : &*found;
}

/// How long ago the sender handed over the last bytes, if some are missing at the receiver, which has `received`. A
/// sender that has replied has handed over all, and what a receiver still waits for is on the way. 0: nothing is known
/// to be.
Nanoseconds on_the_way_for(const StageSight& sender, int to, std::int64_t received) {
  if (sender.replied) return sender.since_reply;
  if (!answers(sender)) return Nanoseconds(0);
  const auto found = std::find_if(sender.lanes.begin(), sender.lanes.end(), [&](const LaneSight& lane) {
    return lane.report.role == Role::send && lane.report.peer == to && lane.report.bytes > received;
  });
  return found == sender.lanes.end() ? Nanoseconds(0) : standing(sender, *found);
}

std::vector<Accusation> stalled_links(std::span<const StageSight> sights, const StallLimits& limits) {
  std::vector<Accusation> found;
  for (const auto& receiver : sights) {
    if (!answers(receiver)) continue;
    for (const auto& lane : receiver.lanes) {
      const auto& report = lane.report;
      const bool waits = report.role == Role::receive && report.doing == Doing::waiting;
      const auto* sender = find_stage(sights, report.peer);
      if (!waits || sender == nullptr) continue;
      // The receiver may have waited for long before anything was sent, which is no fault of the link.
      const auto silence = std::min(standing(receiver, lane), on_the_way_for(*sender, receiver.stage, report.bytes));
      if (silence < limits.unsure) continue;
      found.push_back(
          {std::nullopt,
           fmt::format("the link from stage {} to stage {} hangs: stage {} has sent, and for {} nothing has "
                       "arrived; look at the network between them",
                       report.peer, receiver.stage, report.peer, seconds(silence))});
    }
  }
  return found;
}

/// Empty for a stage that waits for another one.
std::string lateness(const StageSight& sight) {
  if (sight.state == kStopped) return "gave no answer in time: its process is stopped (SIGSTOP)";
  if (sight.silent > Nanoseconds(0)) return "gave no answer in time";
  if (sight.lanes.empty()) return "was not ready in time: it answers, and is still at what it was asked for";
  for (const auto& lane : sight.lanes) {
    if (lane.report.doing != Doing::working) continue;
    return fmt::format("was not ready in time: it was {} for at least {}, and used {} of CPU time in that",
                       occupation(lane.report.role), seconds(standing(sight, lane)), seconds(cpu_time(sight, lane)));
  }
  return "";
}

}  // namespace

void StageSight::answered(const stage::Whereabouts& whereabouts) {
  silent = Nanoseconds(0);
  used_cpu = false;
  last = whereabouts;
  lanes.resize(last.lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].since_ns != 0 && lanes[i].report == last.lanes[i]) continue;
    lanes[i] = {last.lanes[i], last.at_ns, last.cpu_time_ns};
  }
}

std::vector<Accusation> find_stalled(std::span<const StageSight> sights, const StallLimits& limits) {
  auto found = silent_ones(sights, limits);
  if (found.empty()) found = hung_ones(sights, limits);
  if (found.empty()) found = stalled_links(sights, limits);
  return found;
}

std::vector<Accusation> find_slow(std::span<const StageSight> sights, const StallLimits& limits) {
  std::vector<Accusation> found;
  for (const auto& sight : sights) {
    const auto* lane = stuck(sight, limits);
    if (lane == nullptr || idle(cpu_time(sight, *lane), standing(sight, *lane))) continue;
    found.push_back(
        {sight.stage,
         fmt::format("is slow: it has been {} for {}, and {}; it uses CPU time, so it is waited "
                     "for until the trial's timeout",
                     occupation(lane->report.role), seconds(standing(sight, *lane)), longest_so_far(sight))});
  }
  return found;
}

std::vector<Accusation> find_late(std::span<const StageSight> sights) {
  std::vector<Accusation> found;
  std::vector<Accusation> waiting;
  for (const auto& sight : sights) {
    if (sight.replied) continue;
    if (auto what = lateness(sight); !what.empty()) {
      found.push_back({sight.stage, std::move(what)});
    } else {
      waiting.push_back({sight.stage, "was not ready in time: it waits for another one"});
    }
  }
  return found.empty() ? waiting : found;
}

}  // namespace paretopipe::run
