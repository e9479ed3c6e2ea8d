#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/source.hpp>

#include <algorithm>

namespace paretopipe::stage {

bool ArrivalGate::enter(std::int64_t moment_ns) {
  const Clock::time_point moment{Nanoseconds(moment_ns)};
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, moment, [this] { return closed_; })) return false;
  changed_.wait(lock, [this] { return closed_ || free_ > 0; });
  if (closed_) return false;
  --free_;
  return true;
}

void ArrivalGate::leave() {
  {
    const std::lock_guard lock(mutex_);
    ++free_;
  }
  changed_.notify_all();
}

void ArrivalGate::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

Source::Source(const Run& run, const ReferenceSet& references)
    : run_(run), references_(references), deal_(run.deal()), gate_(run.depth), returned_(deal_.devices) {
  for (std::size_t device = 0; device < deal_.devices; ++device) jobs_.emplace_back(run.micro_batches_in_flight());
  issued_.resize(run.total_micro_batches());
  for (const auto member : kResultMoments) (results_.*member).resize(run.total_micro_batches());
}

void Source::start() {
  const std::lock_guard lock(mutex_);
  if (experiment::has_single_stream(run_.phases)) {
    issue();
  } else {
    fill();
  }
}

void Source::follow_schedule() {
  schedule_begin_ns_ = now_ns();
  for (const auto arrival : run_.arrivals) {
    if (!gate_.enter(schedule_begin_ns_ + arrival)) return;
    const std::lock_guard lock(mutex_);
    issue();
  }
}

void Source::close() {
  for (auto& jobs : jobs_) jobs.close();
  gate_.close();
}

void Source::issue() {
  const auto batch = next_++;
  const auto first = batch * run_.micro_batches_of_batch();
  const auto moment = now_ns();
  for (auto sequence = first; sequence < first + run_.micro_batches_of_batch(); ++sequence) {
    issued_[sequence] = moment;
    jobs(deal_.device_of(batch)).push({sequence, references_.inputs[sequence % references_.inputs.size()], nullptr});
  }
}

void Source::complete(std::size_t sequence, std::int64_t receive_begin_ns, std::int64_t receive_end_ns,
                      const Activation& result) {
  const auto completed = now_ns();
  const std::lock_guard lock(mutex_);
  results_.receive_begin[sequence] = receive_begin_ns;
  results_.receive_end[sequence] = receive_end_ns;
  results_.completed[sequence] = completed;
  auto& micro_batches = returned_[deal_.device_of(sequence / run_.micro_batches_of_batch())];
  micro_batches.push_back(result);
  if (micro_batches.size() < run_.micro_batches_of_batch()) return;
  check_batch(sequence + 1 - micro_batches.size(), micro_batches);
  ++batches_back_;
  if (run_.server) {
    gate_.leave();
  } else {
    issue_next();
  }
}

/// The Offline phase begins in an empty pipeline.
void Source::fill() {
  for (int i = 0; i < std::min(run_.depth, run_.phase_batches()); ++i) issue();
}

/// A batch is back: the SingleStream and the Offline phase hand over the next one.
void Source::issue_next() {
  if (next_ == static_cast<std::size_t>(run_.total_batches())) return;
  const bool alone_is_over =
      experiment::has_single_stream(run_.phases) && batches_back_ == static_cast<std::size_t>(run_.phase_batches());
  if (alone_is_over) {
    fill();
  } else {
    issue();
  }
}

/// Checks the result of the batch that begins with micro-batch `first`.
void Source::check_batch(std::size_t first, std::vector<Activation>& micro_batches) {
  for (std::size_t i = 0; i < micro_batches.size(); ++i) {
    comparison_.add(micro_batches[i], references_.outputs[(first + i) % references_.outputs.size()]);
    judge(first + i, micro_batches[i]);
  }
  if (first + micro_batches.size() == run_.total_micro_batches()) last_batch_ = std::move(micro_batches);
  micro_batches.clear();
}

/// Inputs and their labels repeat. Each counts at its first result.
void Source::judge(std::size_t sequence, const Activation& result) {
  if (references_.labels.empty() || sequence >= references_.inputs.size()) return;
  const auto images = static_cast<std::size_t>(result.spec.shape.front());
  const auto logits = as_floats(result);
  const auto classes = logits.size() / images;
  const auto end = std::min((sequence + 1) * images, references_.labels.size());
  for (auto image = sequence * images; image < end; ++image) {
    const auto found = argmax(logits.subspan((image - sequence * images) * classes, classes));
    ++images_judged_;
    images_right_ += static_cast<std::int64_t>(found) == references_.labels[image];
  }
}

Accuracy Source::accuracy() const {
  if (images_judged_ == 0) return {};
  return {static_cast<double>(images_right_) / static_cast<double>(images_judged_), images_judged_};
}

ServerTimeline Source::server_timeline() const {
  ServerTimeline timeline;
  const auto micro_batches = run_.micro_batches_of_batch();
  for (std::size_t batch = 0; batch < run_.arrivals.size(); ++batch) {
    timeline.scheduled.push_back(schedule_begin_ns_ + run_.arrivals[batch]);
    timeline.handed_over.push_back(issued_[batch * micro_batches]);
    timeline.completed.push_back(results_.completed[(batch + 1) * micro_batches - 1]);
  }
  return timeline;
}

}  // namespace paretopipe::stage
