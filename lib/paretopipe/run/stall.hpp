#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/whereabouts.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Which stage holds the others up, from what stages answer to "where are you" again and again. Pure.
namespace paretopipe::run {

/// How often stages are asked where they are, and what is taken for a stall. A stage that uses CPU time never is: it
/// may be as slow as it has to be, until the timeout.
struct StallLimits {
  Nanoseconds first_look = std::chrono::seconds(5);  ///< after a request; most trials are over by then, and undisturbed
  Nanoseconds every = std::chrono::seconds(2);       ///< from then on
  Nanoseconds stopped = std::chrono::seconds(10);    ///< of a stopped process (SIGSTOP), without an answer
  Nanoseconds standstill = std::chrono::seconds(10);  ///< in one micro-batch, without any CPU time; at least
  double times_longest = 20;                          ///< that it took so far for any micro-batch
  /// The same before the first micro-batch, which may take long; without an answer, of a process that is not stopped,
  /// and without a byte on a link that has some to bring, which may lose packets.
  Nanoseconds unsure = std::chrono::seconds(60);
};

/// What a person is told while a stage is waited for, in a sentence.
using Notice = std::function<void(const std::string&)>;

struct StallWatching {
  StallLimits limits{};
  Notice notice{};  ///< may be empty
};

/// A thread of a stage that stood still from one answer to the newest one.
struct LaneSight {
  stage::LaneReport report;
  std::int64_t since_ns = 0;          ///< of the first answer that said the same
  std::int64_t cpu_time_then_ns = 0;  ///< of the stage's process
};

/// What is known of a stage whose reply is waited for.
struct StageSight {
  int stage = 0;
  bool replied = false;       ///< nobody waits for it any more
  Nanoseconds silent{};       ///< for so long it has not answered; 0: it answered the last question
  char state = '?';           ///< of its process (host::ProcessState)
  bool used_cpu = false;      ///< while it was silent
  stage::Whereabouts last{};  ///< its newest answer
  std::vector<LaneSight> lanes{};

  /// Takes the next answer up.
  void answered(const stage::Whereabouts& whereabouts);
};

/// What is the matter with a stage, to follow "stage 1 "; or, of a link, a whole sentence.
struct Accusation {
  std::optional<int> stage;
  std::string what;

  bool operator==(const Accusation&) const = default;
};

/// Those that cannot be waited for any longer; none while all is well, slow as it may be. Who only waits for another
/// one is never accused. A silent stage comes before one that stands still, and both before a link.
std::vector<Accusation> find_stalled(std::span<const StageSight> sights, const StallLimits& limits);

/// Stages that stand still in one micro-batch for as long, and use CPU time.
std::vector<Accusation> find_slow(std::span<const StageSight> sights, const StallLimits& limits);

/// At the timeout: who is not merely waiting for another one; all, where everybody is.
std::vector<Accusation> find_late(std::span<const StageSight> sights);

}  // namespace paretopipe::run
