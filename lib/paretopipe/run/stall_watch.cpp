#include <paretopipe/run/stall_watch.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::run {

namespace {

/// The extra time at the deadline. A stage that is alive answers much sooner, even on a busy machine.
constexpr auto kLastWords = std::chrono::seconds(5);
constexpr auto kLastWordsEvery = std::chrono::milliseconds(50);

}  // namespace

StallWatch::StallWatch(const std::vector<StageClient*>& stages, const WaitLimits& limits)
    : stages_(stages),
      limits_(limits),
      cpu_when_asked_ns_(stages.size()),
      signs_of_life_(stages.size()),
      next_look_(limits.deadline) {
  for (const auto* stage : stages) {
    sights_.emplace_back().stage = stage->index();
    if (limits.watching == nullptr) sights_.back().silent = Nanoseconds(1);  // nobody will ask it
  }
  if (limits.watching != nullptr) {
    next_look_ = std::min(limits.deadline, Clock::now() + limits.watching->limits.first_look);
  }
}

StageSight& StallWatch::sight_of(const StageClient& stage) {
  const auto found = std::find(stages_.begin(), stages_.end(), &stage);
  return sights_[static_cast<std::size_t>(found - stages_.begin())];
}

const StageClient& StallWatch::client_of(int stage) const {
  return **std::find_if(stages_.begin(), stages_.end(), [&](const auto* client) { return client->index() == stage; });
}

void StallWatch::look(const std::vector<StageClient*>& waiting) {
  for (auto& sight : sights_) sight.replied = true;
  for (const auto* stage : waiting) sight_of(*stage).replied = false;
  if (limits_.watching == nullptr) end_wait(find_late(sights_));
  listen(waiting);
  if (last_words_until_) return hear_last_words();
  feel_pulse(waiting);
  const auto& [limits, notice] = *limits_.watching;
  if (const auto stalled = find_stalled(sights_, limits); !stalled.empty()) end_wait(stalled);
  tell_of_slow_ones();
  ask(waiting);
  for (auto& sight : sights_) {
    if (sight.replied) sight.since_reply += limits.every;  // as it will be at the next look
  }
  const auto now = Clock::now();
  next_look_ = std::min(limits_.deadline, now + limits.every);
  if (now < limits_.deadline) return;
  last_words_until_ = now + kLastWords;
  next_look_ = now + kLastWordsEvery;
}

void StallWatch::listen(const std::vector<StageClient*>& waiting) {
  for (auto* stage : waiting) {
    auto& sight = sight_of(*stage);
    if (const auto whereabouts = stage->take_whereabouts()) {
      sight.answered(*whereabouts);
      sight.state = '?';
    } else if (stage->has_open_question()) {
      if (!last_words_until_) sight.silent += limits_.watching->limits.every;
      const auto process = stage->process_state();
      sight.unseen = !process;
      if (!process) continue;
      sight.state = process->state;
      sight.used_cpu = process->cpu_time_ns > cpu_when_asked_ns_[static_cast<std::size_t>(&sight - sights_.data())];
    }
  }
}

void StallWatch::feel_pulse(const std::vector<StageClient*>& waiting) {
  for (const auto* stage : waiting) {
    auto& sight = sight_of(*stage);
    auto& at_last_look = signs_of_life_[static_cast<std::size_t>(&sight - sights_.data())];
    const auto now = stage->signs_of_life();
    const bool none_came = now && now == at_last_look;
    sight.lifeless = none_came ? sight.lifeless + limits_.watching->limits.every : Nanoseconds(0);
    at_last_look = now;
  }
}

void StallWatch::ask(const std::vector<StageClient*>& waiting) {
  for (auto* stage : waiting) {
    if (stage->has_open_question()) continue;
    const auto index = static_cast<std::size_t>(&sight_of(*stage) - sights_.data());
    cpu_when_asked_ns_[index] = stage->process_state().value_or(host::ProcessState{}).cpu_time_ns;
    stage->ask_where();
  }
}

void StallWatch::tell_of_slow_ones() {
  const auto& [limits, notice] = *limits_.watching;
  if (!notice) return;
  for (const auto& slow : find_slow(sights_, limits)) {
    if (told_of_.insert(*slow.stage).second) notice(fmt::format("{} {}", client_of(*slow.stage).name(), slow.what));
  }
}

void StallWatch::hear_last_words() {
  const bool all_answered = std::none_of(stages_.begin(), stages_.end(), [this](const StageClient* stage) {
    return !sight_of(*stage).replied && stage->has_open_question();
  });
  if (!all_answered && Clock::now() < *last_words_until_) {
    next_look_ = Clock::now() + kLastWordsEvery;
    return;
  }
  for (const auto* stage : stages_) {
    auto& sight = sight_of(*stage);
    if (!sight.replied && stage->has_open_question()) sight.silent = std::max(sight.silent, Nanoseconds(kLastWords));
  }
  end_wait(find_late(sights_));
}

void StallWatch::end_wait(const std::vector<Accusation>& accusations) const {
  const bool at_deadline = last_words_until_ || limits_.watching == nullptr;
  const auto* end = !limits_.of_trial ? "" : at_deadline ? kRaiseTimeout : "; the pipeline was ended";
  if (accusations.size() == 1 && accusations.front().stage) {
    const auto& [stage, what] = accusations.front();
    throw client_of(*stage).failure(what + end);
  }
  std::vector<std::string> sentences;
  for (const auto& [stage, what] : accusations)
    sentences.push_back(stage ? fmt::format("{} {}", client_of(*stage).name(), what) : what);
  throw StageError(std::nullopt, StageError::Kind::died, ExitCode::environment,
                   fmt::format("{}{}", fmt::join(sentences, "; "), end));
}

}  // namespace paretopipe::run
