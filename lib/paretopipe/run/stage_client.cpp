#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/architecture.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/launch/launcher.hpp>
#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::run {

namespace {

/// A link may close a moment before the process behind it can be reaped.
constexpr int kReapTimeoutMs = 1000;
/// Longer than a guard gives a stage that computes (launch/guard.cpp).
constexpr int kLaunchedEndTimeoutMs = 4000;

constexpr const char* kRaiseTimeout = "; the pipeline was ended (if it was merely slow, raise --trial-timeout)";

launch::ChildCommand child_command(const StageCommand& command) {
  if (!command.launcher.empty()) {
    return {.argv = launch::with_found_program(command.launcher), .control_is_stdio = true};
  }
  return {{command.program.string(), "serve"}, command.environment, command.namespaces, command.cgroups};
}

StageError::Kind kind_of(stage::FaultKind kind) {
  switch (kind) {
    case stage::FaultKind::refused:
      return StageError::Kind::refused;
    case stage::FaultKind::peer_lost:
      return StageError::Kind::peer_lost;
    case stage::FaultKind::process_lost:
      break;
  }
  return StageError::Kind::died;
}

/// What may help if a launcher ends before the stage program has answered. The shell's statuses are POSIX's.
std::string advice_for(const std::string& how_it_ended, const std::string& launcher) {
  if (how_it_ended == "exited with status 127" || how_it_ended == "exited with status 126") {
    return "; install paretopipe there, run `paretopipe devices deploy`, or name its stage program in the devices file";
  }
  if (how_it_ended == "exited with status 255" && launcher == "ssh") {
    return "; `ssh` to the device from a shell must work without a question first";
  }
  return "; `paretopipe devices check` says more";
}

}  // namespace

struct StageClient::Started {
  launch::ChildProcess process;
  wire::Link control;
};

StageClient::StageClient(int index, const StageCommand& command)
    : StageClient(index, command, [&] {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
          throw system_error("make a control link", errno);
        }
        wire::Link control(ends[0]);
        launch::ChildProcess process(child_command(command), FileDescriptor(ends[1]));
        return Started{std::move(process), std::move(control)};
      }()) {}

StageClient::StageClient(int index, const StageCommand& command, Started started)
    : index_(index),
      name_(command.name.empty() ? fmt::format("stage {}", index) : command.name),
      cause_of_death_(command.cause_of_death),
      launched_with_(command.launcher.empty() ? ""
                                              : std::filesystem::path(command.launcher.front()).filename().string()),
      order_{command.environment},
      process_(std::move(started.process)),
      control_(std::move(started.control)) {}

/// A launcher passes the end of the link on, so that the guard ends the stage. Killed, it would leave that to its host.
StageClient::~StageClient() {
  if (launched_with_.empty()) return;
  control_.shutdown();
  process_.end(kLaunchedEndTimeoutMs);
}

void StageClient::meet(Clock::time_point deadline, int interrupt_descriptor) {
  if (launched_with_.empty()) return;
  try {
    guard_ = launch::meet_guard(control_.native_handle(), order_, deadline, interrupt_descriptor);
  } catch (const EnvironmentError& error) {
    const auto how = process_.end(kReapTimeoutMs);
    if (launch::tells_of_other_architecture(process_.last_output())) throw other_architecture();
    throw failure(fmt::format("cannot be started: {} {} ({}){}", launched_with_, error.what(), how,
                              advice_for(how, launched_with_)));
  }
  output_before_signs_ = process_.output_size();
  if (guard_->release == version()) return;
  throw failure(
      fmt::format("is of release {}, and this driver of {}: they would not measure the same; install the same "
                  "release, or run `paretopipe devices deploy`",
                  guard_->release, version()));
}

std::optional<std::size_t> StageClient::signs_of_life() const {
  const auto size = process_.output_size();
  const bool heard = guard_ && guard_->signs_of_life && size > output_before_signs_;  // a launcher may keep stderr
  return heard ? std::optional(size) : std::nullopt;
}

void StageClient::send_envelope(const nlohmann::json& envelope) {
  try {
    control_.send_message(envelope);
  } catch (const wire::ProtocolError&) {
    throw death();
  }
}

void StageClient::send_tensor(std::uint32_t tag, std::uint64_t sequence, const wire::TensorSpec& spec,
                              std::span<const std::byte> bytes) {
  try {
    control_.send_tensor(tag, sequence, spec, bytes);
  } catch (const wire::ProtocolError&) {
    throw death();
  }
}

void StageClient::send_within(const WaitLimits& limits, const std::function<void()>& sends) {
  const FileDescriptor done(::eventfd(0, EFD_CLOEXEC));
  if (done.get() < 0) throw system_error("watch what is sent to " + name_, errno);
  bool late = false;
  std::exception_ptr interrupted;
  std::thread watch([&] {
    std::array events{pollfd{done.get(), POLLIN, 0}};
    try {
      late = launch::poll_interruptibly(events, limits.deadline, limits.interrupt_descriptor, "send to " + name_) == 0;
    } catch (const Error&) {
      interrupted = std::current_exception();
    }
    if (late || interrupted) control_.shutdown();
  });
  std::exception_ptr lost;
  try {
    sends();
  } catch (...) {  // thrown on when the thread has ended
    lost = std::current_exception();
  }
  ::eventfd_write(done.get(), 1);
  watch.join();
  if (interrupted) std::rethrow_exception(interrupted);
  if (late)
    throw failure(std::string("did not take in time what it was sent") + (limits.of_trial ? kRaiseTimeout : ""));
  if (lost) std::rethrow_exception(lost);
}

nlohmann::json StageClient::receive_envelope() {
  try {
    return control_.receive_message();
  } catch (const wire::ConnectionLost&) {
    throw death();
  } catch (const wire::Closed&) {
    throw death();
  } catch (const wire::ProtocolError& error) {
    throw failure(fmt::format("spoke another protocol on the control link: {}", error.what()));
  }
}

void StageClient::ask_where() {
  send(stage::WhereAreYou{});
  asked_where_ = true;
}

bool StageClient::take_message() {
  auto envelope = receive_envelope();
  if (!asked_where_ || !stage::holds<stage::Whereabouts>(envelope)) {
    reply_ = std::move(envelope);
    return true;
  }
  try {
    whereabouts_ = stage::unwrap<stage::Whereabouts>(envelope);
  } catch (const nlohmann::json::exception& error) {
    throw failure(
        fmt::format("sent a malformed message where {} was due ({})", stage::Whereabouts::kType, error.what()));
  }
  asked_where_ = false;
  return false;
}

/// The answer to a pending question may come first.
nlohmann::json StageClient::receive_reply() {
  while (!reply_ && !take_message()) {
  }
  return *std::exchange(reply_, std::nullopt);
}

void StageClient::receive_tensor(std::uint32_t tag, std::uint64_t sequence, const wire::TensorSpec& announced,
                                 std::span<std::byte> into) {
  try {
    control_.receive_tensor(tag, sequence, announced, into);
  } catch (const wire::ConnectionLost&) {
    throw death();
  } catch (const wire::Closed&) {
    throw death();
  } catch (const wire::ProtocolError& error) {
    throw failure(fmt::format("sent another tensor than it announced: {}", error.what()));
  }
}

StageError StageClient::error_of(const stage::Fault& fault) const {
  return {stage(), kind_of(fault.kind), static_cast<ExitCode>(fault.exit_code), fault.reason};
}

StageError StageClient::failure(const std::string& what) const {
  const auto output = process_.last_output();
  return {stage(), StageError::Kind::died, ExitCode::environment,
          fmt::format("{} {}{}{}", name_, what, output.empty() ? "" : "; its last output: ", output)};
}

/// Without the last output, which is the program's bytes where a shell took it for a script.
StageError StageClient::other_architecture() const {
  return {stage(), StageError::Kind::died, ExitCode::environment,
          fmt::format("{} cannot be started: its stage program is built for another architecture; install a paretopipe "
                      "there that was built for it, or name its stage program in the devices file",
                      name_)};
}

StageError StageClient::death() {
  const auto how = process_.end(kReapTimeoutMs);
  return failure(cause_of_death_ ? how + cause_of_death_() : how);
}

void for_each_reply(const std::vector<StageClient*>& stages, const WaitLimits& limits,
                    const std::function<void(StageClient&)>& take) {
  auto waiting = stages;
  std::optional<StageError> effect;
  StallWatch watch(stages, limits);
  while (!waiting.empty()) {
    std::vector<pollfd> events;
    for (const auto* stage : waiting) events.push_back({stage->descriptor(), POLLIN, 0});
    const int ready =
        launch::poll_interruptibly(events, watch.next_look(), limits.interrupt_descriptor, "wait for the stages");
    if (ready == 0) watch.look(waiting);
    std::vector<StageClient*> silent;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (events[i].revents == 0) {
        silent.push_back(waiting[i]);
        continue;
      }
      try {
        if (waiting[i]->take_message()) {
          take(*waiting[i]);
        } else {
          silent.push_back(waiting[i]);
        }
      } catch (const StageError& error) {
        if (error.kind() != StageError::Kind::peer_lost) throw;
        if (!effect) effect = error;
      }
    }
    waiting = std::move(silent);
  }
  if (!effect) return;
  for (auto* stage : stages) {
    if (stage->ended()) throw stage->death();
  }
  throw StageError(*effect);
}

namespace {

/// The extra time at the deadline: a stage that is alive answers much sooner, even on a busy machine.
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
