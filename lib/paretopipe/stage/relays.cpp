#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/guard.hpp>
#include <paretopipe/shaping/emulated/emulated_link.hpp>
#include <paretopipe/stage/envelope.hpp>
#include <paretopipe/stage/fault.hpp>
#include <paretopipe/stage/link_messages.hpp>
#include <paretopipe/stage/relays.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/sockets.hpp>

#include <cerrno>
#include <map>
#include <utility>

#include <fcntl.h>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

constexpr const char* kRelayAddress = "127.0.0.1";  // for the stage alone
constexpr int kReapTimeoutMs = 1000;

/// The relays of this machine, by the stage that they lead to.
class Relays {
 public:
  nlohmann::json answer(const nlohmann::json& request) {
    if (const auto message = unwrap<OpenRelay>(request)) return wrap(open(*message));
    if (const auto message = unwrap<ShapeRelay>(request)) return wrap(shape(*message));
    if (const auto message = unwrap<WatchRelays>(request)) return wrap(watch(*message));
    if (unwrap<ReadRelays>(request)) return wrap(read());
    throw wire::ProtocolError(
        fmt::format("the stage sent a request that its relays do not know: {}", request.dump().substr(0, 80)));
  }

 private:
  RelayOpened open(const OpenRelay& request) {
    const experiment::LinkConditions unshaped;
    auto& relay = relays_.try_emplace(request.to, kRelayAddress, unshaped, unshaped, 0).first->second;
    relay.lead_to(wire::ip_of(request.host, request.port), request.port);
    return {kRelayAddress, relay.port()};
  }

  RelayShaped shape(const ShapeRelay& request) {
    const auto relay = relays_.find(request.to);
    if (relay == relays_.end()) throw wire::ProtocolError("the driver sent shape_relay before open_relay");
    relay->second.set_conditions(request.forward, request.backward, request.seed);
    return {};
  }

  RelaysWatched watch(const WatchRelays& request) {
    for (auto& [to, relay] : relays_) relay.watch_lateness(Nanoseconds(request.tolerance_ns));
    return {};
  }

  RelaysRead read() const {
    RelaysRead reply;
    for (const auto& [to, relay] : relays_) {
      reply.relays.push_back({to, relay.lateness()});
      if (auto problem = relay.last_problem(); !problem.empty()) reply.problem = std::move(problem);
    }
    return reply;
  }

  std::map<int, shaping::EmulatedLink> relays_;
};

/// During its life, the calling thread and what it starts may use these CPUs.
class OnCpus {
 public:
  explicit OnCpus(const host::CpuSet& cpus) : own_(host::current_affinity()) { host::set_affinity(cpus); }
  ~OnCpus() {
    try {
      host::set_affinity(own_);
    } catch (const EnvironmentError&) {  // a CPU was taken away meanwhile; the conditions of the next run show it
    }
  }
  OnCpus(const OnCpus&) = delete;
  OnCpus& operator=(const OnCpus&) = delete;

 private:
  host::CpuSet own_;
};

launch::ChildProcess start_relays(const wire::Link& theirs, const host::CpuSet& cpus) {
  FileDescriptor control(::fcntl(theirs.native_handle(), F_DUPFD_CLOEXEC, 0));
  if (control.get() < 0) throw system_error("make a link to the relays", errno);
  const OnCpus free(cpus);
  return {{{launch::guarded_program().string(), "relay"}}, std::move(control)};
}

}  // namespace

void serve_relays(wire::Link& control) {
  Relays relays;
  for (;;) {
    nlohmann::json request;
    try {
      request = control.receive_message();
    } catch (const wire::Closed&) {  // the stage has gone
      return;
    }
    nlohmann::json reply;
    try {
      reply = relays.answer(request);
    } catch (const std::exception& error) {  // as in a session: what to do about a fault is the driver's to judge
      reply = wrap(fault_of(error));
    }
    control.send_message(reply);
  }
}

bool is_for_relays(const nlohmann::json& request) {
  return holds<OpenRelay>(request) || holds<ShapeRelay>(request) || holds<WatchRelays>(request) ||
         holds<ReadRelays>(request);
}

RelayProcess::RelayProcess(const host::CpuSet& cpus) : RelayProcess(wire::make_link_pair(), cpus) {}

RelayProcess::RelayProcess(std::pair<wire::Link, wire::Link> ends, const host::CpuSet& cpus)
    : control_(std::move(ends.first)), process_(start_relays(ends.second, cpus)) {}

nlohmann::json RelayProcess::ask(const nlohmann::json& request) {
  try {
    control_.send_message(request);
    return control_.receive_message();
  } catch (const wire::ProtocolError& error) {
    const auto how = process_.end(kReapTimeoutMs);
    const auto output = process_.last_output();
    throw ProcessLost(fmt::format("the process that emulates the network of this stage's links {} ({}){}{}", how,
                                  error.what(), output.empty() ? "" : "; its last output: ", output));
  }
}

std::string RelayProcess::last_problem() {
  const auto reply = unwrap<RelaysRead>(ask(wrap(ReadRelays{})));
  return reply ? reply->problem : "";
}

}  // namespace paretopipe::stage
