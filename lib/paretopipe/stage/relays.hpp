#pragma once
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/wire/link.hpp>

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

// Relays on the sender's machine, beside the stage, apply a network profile to the links between machines. The stage's
// links lead to a relay on the same machine, which passes the bytes on over the real network when they are due
// (shaping/emulated/emulated_link.hpp). Nothing else has to be installed there, and one clock times every delay.
//
// The relays have a process of their own, because the stage's CPU time and memory are measured, and its threads are
// bound to its CPUs. The process ends with the stage.
namespace paretopipe::stage {

/// The process of the relays: answers OpenRelay, ShapeRelay, WatchRelays and ReadRelays until the link ends. Answers a
/// failed request with `Fault`.
void serve_relays(wire::Link& control);

/// True for the requests that serve_relays answers.
bool is_for_relays(const nlohmann::json& request);

/// The stage's end of that process, which is the stage program with the argument "relay".
class RelayProcess {
 public:
  /// `cpus` are those that the process may use. Throws EnvironmentError if it cannot be started.
  explicit RelayProcess(const host::CpuSet& cpus);

  /// Its answer, which may be a `Fault`. Throws ProcessLost, with its last output, if it has died.
  nlohmann::json ask(const nlohmann::json& request);

  /// The last problem that a relay had with a connection; empty if there was none.
  std::string last_problem();

 private:
  RelayProcess(std::pair<wire::Link, wire::Link> ends, const host::CpuSet& cpus);

  wire::Link control_;
  launch::ChildProcess process_;
};

}  // namespace paretopipe::stage
