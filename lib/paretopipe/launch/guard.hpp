#pragma once
#include <paretopipe/core/clock.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// A stage on another host. The driver runs a launcher, such as `ssh HOST`, whose stdin and stdout reach the device.
// There, `paretopipe-stage guard` starts the stage proper and passes the control link's bytes on. The guard is a
// process of its own, so that somebody is left to say how the stage ended, and to end the stage when the driver is
// gone. A launcher cannot be relied on for this: sshd, for one, leaves processes alone that neither read nor write.
//
//   guard  → driver   whatever login scripts print, then the line kGuardMarker
//   driver → guard    GuardOrder, a line of JSON
//   guard  → driver   GuardAnswer, a line of JSON; from here on, frames (wire/README.md) in both directions
//
// The guard gives a sign of life every kSignOfLifeEvery: an empty line on stderr. If the two hosts lose sight of each
// other, both learn it from these signs. The driver misses them, even where the launcher reports nothing. The guard's
// host gets no acknowledgement for them, and its TCP gives the connection up. There are none where stderr is a
// terminal, because a terminal would put them among the frames.
namespace paretopipe::launch {

inline constexpr auto kSignOfLifeEvery = std::chrono::seconds(5);

/// Printed by the guard before anything else. What comes before it is not part of the control link.
inline constexpr const char* kGuardMarker = "PARETOPIPE-STAGE-CONTROL-LINK";

/// What the guard has to know before it starts the stage.
struct GuardOrder {
  std::vector<std::pair<std::string, std::string>> environment{};  ///< set over the login's
};

/// What the driver learns before the first frame.
struct GuardAnswer {
  std::string release{};         ///< paretopipe::version() of the stage program
  std::string architecture{};    ///< uname(2)'s machine, such as "aarch64"
  std::string ssh_connection{};  ///< SSH_CONNECTION of sshd(8), "client port server port"; empty without SSH
  bool signs_of_life = false;    ///< true if the guard gives them
};

/// The guard's side: serves the launcher's stdin and stdout until either the stage or the driver has ended, then ends
/// the other. The stage is `program serve`. Ends the process if it has started a stage, and otherwise returns the exit
/// status. Says on stderr how a stage died.
int guard_stage(const std::filesystem::path& program);

/// The program that runs as this one's stage, relay or keeper of a lease: the environment variable PARETOPIPE_STAGE if
/// set, for a script around the program, or else this executable.
std::filesystem::path guarded_program();

/// The driver's side, over the socket that is the launcher's stdin and stdout: waits for the marker, gives the order,
/// and waits for the answer. Throws EnvironmentError if the stream ends or the deadline passes before. The error says
/// what came instead, such as the last line that a login script printed. Throws Interrupted if `interrupt_descriptor`
/// (-1: nobody can interrupt) is readable.
GuardAnswer meet_guard(int control, const GuardOrder& order, Clock::time_point deadline, int interrupt_descriptor);

}  // namespace paretopipe::launch
