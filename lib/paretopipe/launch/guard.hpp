#pragma once
#include <paretopipe/core/clock.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// A stage on another host. The driver runs a launcher, such as `ssh HOST`, whose stdin and stdout reach the device,
// where `paretopipe-stage guard` starts the stage proper and passes the control link's bytes on. It is a process of its
// own, so that somebody is left to say how the stage ended, and to end it when the driver is gone: what a launcher does
// at its own end differs (sshd leaves processes alone that neither read nor write).
//
//   guard  → driver   whatever login scripts print, then the line kGuardMarker
//   driver → guard    GuardOrder, a line of JSON
//   guard  → driver   GuardAnswer, a line of JSON; from here on, frames (wire/README.md) in both directions
//
// On stderr the guard gives a sign of life every kSignOfLifeEvery, an empty line. A host that vanished from the
// driver's sight learns by it that the driver has given it up, and the driver learns that the host has vanished where
// the launcher says nothing of it. There is none where stderr is a terminal, which would put it among the frames.
namespace paretopipe::launch {

inline constexpr auto kSignOfLifeEvery = std::chrono::seconds(5);

/// Printed before anything else; nothing that comes before it is part of the control link.
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
  bool signs_of_life = false;    ///< whether the guard gives them
};

/// The guard's side: serves the launcher's stdin and stdout until either the stage or the driver has ended, then ends
/// the other. `program serve` is the stage. Ends the process once there was one, and returns the exit status if there
/// was none; how a stage died is said on stderr.
int guard_stage(const std::filesystem::path& program);

/// The program that guards itself: the environment variable PARETOPIPE_STAGE, for a script around the program, or else
/// this executable.
std::filesystem::path guarded_program();

/// The driver's side, over the socket that is the launcher's stdin and stdout: waits for the marker, gives the order,
/// and waits for the answer. Throws EnvironmentError with what came instead, such as the last line that a login script
/// printed, if the stream ends or the deadline passes before; and Interrupted if `interrupt_descriptor` (-1: nobody can
/// interrupt) is readable.
GuardAnswer meet_guard(int control, const GuardOrder& order, Clock::time_point deadline, int interrupt_descriptor);

}  // namespace paretopipe::launch
