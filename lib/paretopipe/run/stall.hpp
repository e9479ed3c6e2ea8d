#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/messages.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Finds the stage that holds the others up, from the stages' repeated answers to "where are you". Pure.
namespace paretopipe::run {

/// How often stages are asked where they are, and what counts as a stall. A stage that uses CPU time never stalls: it
/// may be arbitrarily slow, until the timeout.
struct StallLimits {
  Nanoseconds first_look = std::chrono::seconds(5);  ///< after a request; most trials are over by then, and undisturbed
  Nanoseconds every = std::chrono::seconds(2);       ///< from then on
  Nanoseconds stopped = std::chrono::seconds(10);    ///< a stopped process (SIGSTOP) without an answer
  Nanoseconds standstill = std::chrono::seconds(10);  ///< in one micro-batch, without any CPU time; at least
  double times_longest = 20;                          ///< and at least so many times its longest micro-batch
  /// The same limit before the first micro-batch, which may take long; for a process without an answer that is not
  /// stopped; and for a link that delivers nothing since it was given bytes to deliver, which may lose packets.
  Nanoseconds unsure = std::chrono::seconds(60);
  Nanoseconds unseen = std::chrono::minutes(5);  ///< without an answer from another machine, which may be swapping
  /// The same if signs of life of its guard, which are due every 5 s (launch::kSignOfLifeEvery), are missing as well.
  Nanoseconds lifeless = std::chrono::seconds(20);
};

/// Tells a person a sentence while a stage is waited for.
using Notice = std::function<void(const std::string&)>;

struct StallWatching {
  StallLimits limits{};
  Notice notice{};  ///< may be empty
};

/// A thread of a stage whose answers have not changed up to the newest one.
struct LaneSight {
  stage::LaneReport report;
  std::int64_t since_ns = 0;          ///< moment of the first such answer
  std::int64_t cpu_time_then_ns = 0;  ///< CPU time of the stage's process then
};

/// What is known of a stage whose reply is awaited.
struct StageSight {
  int stage = 0;
  bool replied = false;       ///< no longer awaited
  Nanoseconds since_reply{};  ///< how long ago that was seen
  Nanoseconds silent{};       ///< how long it has not answered; 0: it answered the last question
  char state = '?';           ///< of its process (host::ProcessState)
  bool used_cpu = false;      ///< while it was silent
  bool unseen = false;        ///< on another machine: nobody here knows its state and CPU time
  Nanoseconds lifeless{};     ///< how long its guard has given no sign of life, after others that came
  stage::Whereabouts last{};  ///< its newest answer
  std::vector<LaneSight> lanes{};

  /// Processes the next answer.
  void answered(const stage::Whereabouts& whereabouts);
};

/// The problem with a stage, to follow "stage 1 "; for a link, a whole sentence.
struct Accusation {
  std::optional<int> stage;
  std::string what;

  bool operator==(const Accusation&) const = default;
};

/// The stages and links that must not be waited for any longer; none while all is well, however slow. A stage that only
/// waits for another one is never accused. A silent stage comes before one that stands still, and both before a link.
std::vector<Accusation> find_stalled(std::span<const StageSight> sights, const StallLimits& limits);

/// The stages that have been at one micro-batch for as long as a stalled one, but use CPU time.
std::vector<Accusation> find_slow(std::span<const StageSight> sights, const StallLimits& limits);

/// The stages that are late at the timeout, without those that only wait for another one; all if every stage waits.
std::vector<Accusation> find_late(std::span<const StageSight> sights);

}  // namespace paretopipe::run
