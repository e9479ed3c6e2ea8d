#include <paretopipe/core/timeline.hpp>
#include <paretopipe/run/trial_clocks.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::run {

namespace {

using ClockMoments = std::vector<std::int64_t>;

/// A phase of the trial in the report of a stage.
struct ReportedPhase {
  StageTimeline stage::RunReport::*moments;
  ResultTimeline stage::RunReport::*results;
};
constexpr ReportedPhase kReportedPhases[] = {
    {&stage::RunReport::single_stream, &stage::RunReport::single_stream_results},
    {&stage::RunReport::offline, &stage::RunReport::offline_results}};

void append_frames(stats::LinkFrames& link, const ClockMoments& sent, const ClockMoments& received) {
  for (std::size_t i = 0; i < std::min(sent.size(), received.size()); ++i) {
    link.frames.push_back({sent[i], received[i]});
  }
}

std::vector<stats::LinkFrames> ring_frames(std::span<const stage::RunReport> reports) {
  const auto stages = static_cast<int>(reports.size());
  std::vector<stats::LinkFrames> links;
  for (int from = 0; from < stages && stages > 1; ++from) {
    const int to = (from + 1) % stages;
    auto& link = links.emplace_back(stats::LinkFrames{from, to, {}});
    for (const auto& phase : kReportedPhases) {
      const auto& sender = reports[static_cast<std::size_t>(from)].*phase.moments;
      const auto& receiver = reports[static_cast<std::size_t>(to)];
      append_frames(link, sender.send_begin,
                    to == 0 ? (receiver.*phase.results).receive_begin : (receiver.*phase.moments).receive_begin);
    }
  }
  return links;
}

/// From a series over all batches, the entries of those that were dealt to the device.
ClockMoments dealt_to(std::size_t device, const ClockMoments& all, const Deal& deal, std::size_t micro_batches) {
  ClockMoments own;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (deal.device_of(i / micro_batches) == device) own.push_back(all[i]);
  }
  return own;
}

std::vector<stats::LinkFrames> star_frames(const experiment::Trial& trial, std::span<const stage::RunReport> reports) {
  const auto micro_batches = static_cast<std::size_t>(trial.micro_batches());
  const auto& source = reports.front();
  std::vector<stats::LinkFrames> links;
  for (std::size_t device = 1; device < reports.size(); ++device) {
    const auto number = static_cast<int>(device);
    stats::LinkFrames there{0, number, {}}, back{number, 0, {}};
    for (const auto& phase : kReportedPhases) {
      const auto& dispatch = source.*phase.moments;
      const auto& own = reports[device].*phase.moments;
      const Deal deal{reports.size(), std::max<std::size_t>(1, dispatch.send_begin.size() / micro_batches)};
      append_frames(there, dealt_to(device, dispatch.send_begin, deal, micro_batches), own.receive_begin);
      append_frames(back, own.send_begin, dealt_to(device, (source.*phase.results).receive_begin, deal, micro_batches));
    }
    links.insert(links.end(), {std::move(there), std::move(back)});
  }
  return links;
}

/// The links by which activations go from stage to stage, and those by which gradients come back.
std::vector<stats::LinkFrames> training_frames(std::span<const stage::TrainReport> reports) {
  const auto stages = static_cast<int>(reports.size());
  const auto moments_of = [&](int stage) -> const auto& {
    return reports[static_cast<std::size_t>(stage)].moments;
  };
  std::vector<stats::LinkFrames> links;
  for (int from = 0; from + 1 < stages; ++from) {
    auto& link = links.emplace_back(stats::LinkFrames{from, from + 1, {}});
    append_frames(link, moments_of(from).forward.send_begin, moments_of(from + 1).forward.receive_begin);
  }
  for (int from = stages - 1; from > 0; --from) {
    auto& link = links.emplace_back(stats::LinkFrames{from, from - 1, {}});
    append_frames(link, moments_of(from).backward.send_begin, moments_of(from - 1).backward.receive_begin);
  }
  return links;
}

/// Replicas exchange no frames. But no sum is complete before every replica has begun to add its gradients, so these
/// two moments bound the clocks like a frame that one replica sent and another received.
std::vector<stats::LinkFrames> replica_frames(std::span<const stage::TrainReport> reports) {
  std::vector<stats::LinkFrames> links;
  const auto& first = reports.front().moments;
  for (std::size_t replica = 1; replica < reports.size(); ++replica) {
    const auto number = static_cast<int>(replica);
    const auto& own = reports[replica].moments;
    stats::LinkFrames there{0, number, {}}, back{number, 0, {}};
    append_frames(there, first.reduce_begin, own.reduce_end);
    append_frames(back, own.reduce_begin, first.reduce_end);
    links.insert(links.end(), {std::move(there), std::move(back)});
  }
  return links;
}

/// The number of the first stage that shares a stage's clock, for each stage.
std::vector<int> clocks_of(std::span<const stage::Configured> configured) {
  std::vector<int> clocks;
  for (std::size_t i = 0; i < configured.size(); ++i) {
    const auto same = std::find_if(configured.begin(), configured.end(), [&](const stage::Configured& other) {
      return &other == &configured[i] || host::share_steady_clock(other.host, configured[i].host);
    });
    clocks.push_back(static_cast<int>(same - configured.begin()));
  }
  return clocks;
}

/// True if what a ring's batches say of one stage's clock alone contradicts itself. Every batch came to the stage from
/// stage 0 and went back there, whatever clocks it passed on the way.
bool adjusted_alone(int stage, const std::vector<stats::LinkFrames>& ring) {
  const auto& arriving = ring[static_cast<std::size_t>(stage) - 1].frames;
  const auto& leaving = ring[static_cast<std::size_t>(stage)].frames;
  const auto& last = ring.back().frames;
  stats::LinkFrames there{0, 1, {}}, back{1, 0, {}};
  for (std::size_t i = 0; i < std::min({arriving.size(), leaving.size(), last.size()}); ++i) {
    there.frames.push_back({ring.front().frames[i].sent, arriving[i].received});
    back.frames.push_back({leaving[i].sent, last[i].received});
  }
  return stats::bound_clocks(std::vector{0, 1}, std::vector{there, back}).back().empty();
}

}  // namespace

TrialClocks::TrialClocks(const experiment::Trial& trial, std::span<const stage::Configured> configured,
                         std::span<const stage::RunReport> reports)
    : links_(trial.data_parallel > 0 ? star_frames(trial, reports) : ring_frames(reports)),
      bounds_(stats::bound_clocks(clocks_of(configured), links_)),
      ring_(trial.data_parallel == 0) {}

TrialClocks::TrialClocks(std::span<const stage::Configured> configured, std::span<const stage::TrainReport> reports)
    : links_(reports.front().moments.reduce_begin.empty() ? training_frames(reports) : replica_frames(reports)),
      bounds_(stats::bound_clocks(clocks_of(configured), links_)),
      ring_(false) {}

record::ClockRelation TrialClocks::relation(std::size_t stage) const {
  const auto& bounds = of(stage);
  record::ClockRelation relation;
  if (bounds.same_clock()) return relation;
  relation.same_clock = false;
  relation.offset_before_ns = bounds.to_add_at_begin();
  relation.offset_after_ns = bounds.to_add_at_end();
  relation.error_bound_ns = bounds.error_ns();
  relation.drift_ppm = {1e6 * bounds.drift().low, 1e6 * bounds.drift().high};
  return relation;
}

/// Around a ring the bounds of every clock depend on all other clocks, so one adjusted clock empties the bounds of all.
std::vector<int> TrialClocks::adjusted_stages() const {
  std::vector<int> suspects, found;
  for (std::size_t stage = 0; stage < bounds_.size(); ++stage) {
    if (bounds_[stage].empty()) suspects.push_back(static_cast<int>(stage));
  }
  if (!ring_) return suspects;
  for (const int stage : suspects) {
    if (adjusted_alone(stage, links_)) found.push_back(stage);
  }
  return found.empty() ? suspects : found;
}

std::optional<record::Failure> TrialClocks::adjusted() const {
  const auto stages = adjusted_stages();
  if (stages.empty()) return std::nullopt;
  const bool one = stages.size() == 1;
  return record::Failure{
      "clocks", one ? std::optional(stages.front()) : std::nullopt,
      fmt::format("The clock of stage {} was stepped, or its rate changed, against stage 0's during the trial. Keep "
                  "time daemons (chrony, systemd-timesyncd, ntpd) from adjusting clocks while a sweep runs, and repeat "
                  "the trial with --resume.",
                  fmt::join(stages, " or "))};
}

}  // namespace paretopipe::run
