#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/progress.hpp>
#include <paretopipe/wire/link.hpp>

#include <algorithm>
#include <ctime>
#include <utility>

namespace paretopipe::stage {

namespace {

std::int64_t cpu_time_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);  // fails only for an unknown clock
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// The stage at the other end of neighbours `index` of `stage`. In a star, the source has one neighbour for each
/// device, and a device has only the source. In a ring, `step` is -1 for the previous stage and 1 for the next; the
/// second neighbours are those of a ring in the other direction.
int peer_of(const Run& run, int stage, std::size_t index, int step) {
  if (run.devices > 1) return run.device == 0 ? static_cast<int>(index) + 1 : 0;
  return (stage + (index == 0 ? step : -step) + run.stage_count) % run.stage_count;
}

std::shared_ptr<const wire::Traffic> traffic_of(const wire::Link* link) {
  return link == nullptr ? nullptr : link->traffic();
}

}  // namespace

Lane::Lane(Role role, int peer, std::shared_ptr<const wire::Traffic> traffic)
    : role_(role), peer_(peer), traffic_(std::move(traffic)) {}

LaneReport Lane::report() const {
  LaneReport report{role_, peer_, doing_.load(std::memory_order_relaxed), done_.load(std::memory_order_relaxed)};
  if (traffic_)
    report.bytes = (role_ == Role::send ? traffic_->sent : traffic_->received).load(std::memory_order_relaxed);
  return report;
}

RunProgress::RunProgress(const Run& run, int stage, const std::vector<Neighbours>& neighbours) {
  lanes_.emplace_back(Role::compute, -1, nullptr);
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    lanes_.emplace_back(Role::receive, peer_of(run, stage, i, -1), traffic_of(neighbours[i].previous));
    lanes_.emplace_back(Role::send, peer_of(run, stage, i, 1), traffic_of(neighbours[i].next));
  }
}

void RunProgress::worked(std::int64_t duration_ns) {
  const auto duration = std::max(duration_ns, std::int64_t{1});
  auto longest = longest_compute_ns_.load(std::memory_order_relaxed);
  while (duration > longest &&
         !longest_compute_ns_.compare_exchange_weak(longest, duration, std::memory_order_relaxed)) {
  }
}

void RunProgress::describe_in(Whereabouts& whereabouts) const {
  whereabouts.longest_compute_ns = longest_compute_ns_.load(std::memory_order_relaxed);
  for (const auto& lane : lanes_) {
    if (lane.exists()) whereabouts.lanes.push_back(lane.report());
  }
}

void Progress::show(std::shared_ptr<const RunProgress> run) {
  const std::lock_guard lock(mutex_);
  run_ = std::move(run);
}

Whereabouts Progress::where() const {
  Whereabouts whereabouts;
  {
    const std::lock_guard lock(mutex_);
    if (run_) run_->describe_in(whereabouts);
  }
  whereabouts.at_ns = now_ns();
  whereabouts.cpu_time_ns = cpu_time_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
  return whereabouts;
}

ShownRun::ShownRun(Progress* board, const Run& run, const std::vector<Neighbours>& neighbours)
    : board_(board), progress_(std::make_shared<RunProgress>(run, board == nullptr ? 0 : board->stage(), neighbours)) {
  if (board_ != nullptr) board_->show(progress_);
}

ShownRun::~ShownRun() {
  if (board_ != nullptr) board_->show(nullptr);
}

}  // namespace paretopipe::stage
