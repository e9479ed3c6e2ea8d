#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/wire/errors.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

#include <fmt/ranges.h>

namespace paretopipe::run {
namespace {

/// A closed link is seen a moment before the process behind it can be reaped.
constexpr int kReapTimeoutMs = 1000;

[[noreturn]] void give_up(const std::vector<StageClient*>& silent) {
  if (silent.size() == 1) {
    throw silent.front()->failure("gave no answer in time and was ended; if it was merely slow, raise --trial-timeout");
  }
  std::vector<int> stages;
  for (const auto* stage : silent) stages.push_back(stage->index());
  throw StageError(
      std::nullopt, StageError::Kind::died, ExitCode::environment,
      fmt::format("stages {} gave no answer in time and were ended (who waits for a silent stage is silent "
                  "too); if they were merely slow, raise --trial-timeout",
                  fmt::join(stages, " and ")));
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
        launch::ChildProcess process(
            {{command.program.string(), "serve"}, command.environment, command.namespaces, command.cgroups},
            launch::FileDescriptor(ends[1]));
        return Started{std::move(process), std::move(control)};
      }()) {}

StageClient::StageClient(int index, const StageCommand& command, Started started)
    : index_(index),
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
  return {index_, StageError::Kind::died, ExitCode::environment,
          fmt::format("stage {} {}{}{}", index_, what, output.empty() ? "" : "; its last output: ", output)};
}

StageError StageClient::death() {
  const auto how = process_.end(kReapTimeoutMs);
  return failure(cause_of_death_ ? how + cause_of_death_() : how);
}

void for_each_reply(const std::vector<StageClient*>& stages, const WaitLimits& limits,
                    const std::function<void(StageClient&)>& take) {
  auto waiting = stages;
  std::optional<StageError> effect;
  while (!waiting.empty()) {
    std::vector<pollfd> events;
    for (const auto* stage : waiting) events.push_back({stage->descriptor(), POLLIN, 0});
    const int ready =
        launch::poll_interruptibly(events, limits.deadline, limits.interrupt_descriptor, "wait for the stages");
    if (ready == 0) give_up(waiting);
    std::vector<StageClient*> silent;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (events[i].revents == 0) {
        silent.push_back(waiting[i]);
        continue;
      }
      try {
        take(*waiting[i]);
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
