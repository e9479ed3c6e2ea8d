#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/run/stall_watch.hpp>
#include <paretopipe/wire/errors.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

namespace paretopipe::run {
namespace {

/// A link may close a moment before the process behind it can be reaped.
constexpr int kReapTimeoutMs = 1000;

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
        launch::ChildProcess process(
            {{command.program.string(), "serve"}, command.environment, command.namespaces, command.cgroups},
            launch::FileDescriptor(ends[1]));
        return Started{std::move(process), std::move(control)};
      }()) {}

StageClient::StageClient(int index, const StageCommand& command, Started started)
    : index_(index),
      name_(command.name.empty() ? fmt::format("stage {}", index) : command.name),
      cause_of_death_(command.cause_of_death),
      process_(std::move(started.process)),
      control_(std::move(started.control)) {}

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

StageError StageClient::failure(const std::string& what) const {
  const auto output = process_.last_output();
  return {stage(), StageError::Kind::died, ExitCode::environment,
          fmt::format("{} {}{}{}", name_, what, output.empty() ? "" : "; its last output: ", output)};
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

}  // namespace paretopipe::run
