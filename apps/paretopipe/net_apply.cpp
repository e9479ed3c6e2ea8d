#include <paretopipe/core/control_descriptor.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/shaping/interface/lease.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "net_commands.hpp"

namespace paretopipe::cli {
namespace {

using namespace std::chrono_literals;

struct NetApplyOptions {
  std::string profile;
  shaping::PeerTarget target;
  std::optional<std::uint16_t> port;
  std::string duration;
  std::string direction = "forward";
};

constexpr const char* kKeeper = "keep-lease";

Nanoseconds lease_duration(const std::string& text) {
  const auto duration = parse_duration(text);
  if (duration < 1s || duration > 24h) {
    throw UsageError(fmt::format("--for {}: a lease lasts between 1s and 86400s (a day)", text));
  }
  return duration;
}

/// Checks that the kernel applied what was requested.
experiment::LinkConditions checked_read_back(const shaping::Lease& lease, const experiment::LinkConditions& requested) {
  auto applied = lease.read_back();
  const auto differences = shaping::differences(requested, applied);
  if (!differences.empty()) throw EnvironmentError("it was removed again: " + differences.front());
  return applied;
}

void wait_for_end(const shaping::Lease& lease, const launch::InterruptGuard& interrupt) {
  std::array events{pollfd{lease.descriptor(), POLLIN, 0}, pollfd{interrupt.descriptor(), POLLIN, 0}};
  while (::poll(events.data(), events.size(), -1) < 0) {
    if (errno != EINTR) throw system_error("wait for the end of a lease", errno);
    if (interrupt.requested()) return;
  }
}

std::string reason_of(shaping::LeaseEnd end) {
  using shaping::LeaseEnd;
  static constexpr Word<LeaseEnd> kReasons[]{{LeaseEnd::expired, "the lease is over"},
                                             {LeaseEnd::released, "interrupted"},
                                             {LeaseEnd::keeper_interrupted, "the keeper of the lease was told to end"},
                                             {LeaseEnd::keeper_killed, "the keeper of the lease was killed"}};
  return word_of(kReasons, end);
}

void say_until_when(Nanoseconds duration) {
  const auto until = std::time(nullptr) + std::chrono::ceil<std::chrono::seconds>(duration).count();
  std::tm local{};
  ::localtime_r(&until, &local);
  fmt::print("until {:%H:%M:%S}; Ctrl-C removes it before\n", local);
  std::fflush(stdout);
}

ExitCode run_apply(const NetApplyOptions& options) {
  const auto duration = lease_duration(options.duration);
  const auto profile = experiment::load_network_profile(options.profile);
  const auto& conditions = conditions_of(profile, options.direction);
  auto target = options.target;
  if (options.port) target.ports = {*options.port};
  // If there is no such interface, tc will say so.
  target.mtu = shaping::interface_mtu(target.interface).value_or(target.mtu);
  const shaping::LeaseTerms terms{target.interface, plan_peer_shaping(target, conditions), duration};
  for (const auto& warning : shaping::warnings(conditions)) print_notice("note: {}\n", warning);

  const launch::InterruptGuard interrupt;
  shaping::Lease lease({std::filesystem::read_symlink("/proc/self/exe").string(), "net", kKeeper}, terms);
  const auto applied = checked_read_back(lease, conditions);
  fmt::print("applied {} ({}) on {}\nread back: {}\n", profile.name, options.direction, describe(target),
             describe(applied));
  say_until_when(duration);

  wait_for_end(lease, interrupt);
  const auto outcome = lease.end();
  fmt::print("{}: {} ({})\n", terms.interface,
             outcome.removed ? "removed" : "nothing to remove, somebody did it meanwhile", reason_of(outcome.end));
  return outcome.end == shaping::LeaseEnd::released ? ExitCode::interrupted : ExitCode::success;
}

/// Recognises the lease's owner: a shell or a test runner may leave something else open at that number.
bool has_owner() {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(kControlDescriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

ExitCode run_keeper() {
  if (!has_owner()) throw UsageError("this is for `paretopipe net apply` alone");
  ::fcntl(kControlDescriptor, F_SETFD, FD_CLOEXEC);
  shaping::keep_lease(FileDescriptor(kControlDescriptor));
  return ExitCode::success;
}

ExitCode run_clear(const std::string& interface) {
  shaping::check_interface_name(interface);
  const bool removed = shaping::clear_leftovers(interface);
  fmt::print("{}: {}\n", interface, removed ? "removed what `net apply` had added" : "nothing of ours is applied");
  return ExitCode::success;
}

constexpr const char* kLease =
    "The lease: a second process, in a session of its own, keeps it. It removes what was added, and nothing else, "
    "when\n"
    "the time is over, on Ctrl-C or SIGTERM, and when this command is gone, however that happened: killed (-9, too), "
    "or\n"
    "its terminal lost. If the keeper is killed, this command removes it. Should both be killed at once, `paretopipe\n"
    "net clear` removes it, and so does a restart of the machine.\n"
    "Only traffic to the peer is shaped; all other traffic of the interface (SSH to other hosts, or on other ports)\n"
    "passes as it was, but through one queue of 1000 packets instead of the interface's own. An interface that has a\n"
    "root qdisc of somebody's making is refused. A link has two directions: run it on both hosts, with --direction\n"
    "backward on the second. Needs root, or the capability NET_ADMIN; `net plan` shows what would be run.\n"
    "Exit codes: 0 the lease ended; 130 it was interrupted.";

}  // namespace

void add_net_apply(CLI::App& net, Command& chosen) {
  auto options = std::make_shared<NetApplyOptions>();
  auto* command = net.add_subcommand("apply", "Apply a profile to an interface's traffic to one peer, for some time");
  command->add_option("profile", options->profile, "A profile that ships, or a file")->type_name("PROFILE")->required();
  command->add_option("--interface", options->target.interface, "The interface whose outgoing traffic is shaped")
      ->type_name("NAME")
      ->required();
  command->add_option("--peer", options->target.peer, "Only traffic to this IP address")
      ->type_name("ADDRESS")
      ->required();
  command->add_option("--port", options->port, "Only TCP to or from this port of the peer, or of this host")
      ->check(CLI::Range(1, 65535));
  command->add_option("--for", options->duration, "How long, as in 600s: 1s to a day")
      ->type_name("DURATION")
      ->required();
  command
      ->add_option("--direction", options->direction,
                   "Direction of the profile: forward on the first host, otherwise backward")
      ->check(CLI::IsMember({"forward", "backward"}))
      ->capture_default_str();
  command->footer(kLease);
  command->callback([options, &chosen] { chosen = [options] { return run_apply(*options); }; });

  auto* keeper = net.add_subcommand(kKeeper)->group("");  // hidden
  keeper->callback([&chosen] { chosen = run_keeper; });
}

void add_net_clear(CLI::App& net, Command& chosen) {
  auto interface = std::make_shared<std::string>();
  auto* command = net.add_subcommand("clear", "Remove what an earlier `net apply` left on an interface");
  command->add_option("--interface", *interface, "The interface")->type_name("NAME")->required();
  command->callback([interface, &chosen] { chosen = [interface] { return run_clear(*interface); }; });
}

}  // namespace paretopipe::cli
