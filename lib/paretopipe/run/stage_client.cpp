#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/wire/errors.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

namespace paretopipe::run {
namespace {

/// A closed link is seen a moment before the process behind it can be reaped.
constexpr int kReapTimeoutMs = 1000;
/// How long after one stage's complaint another may be found dead and be blamed instead.
constexpr auto kBlameWindow = std::chrono::milliseconds(300);

/// Milliseconds for poll: rounded up, so that a deadline has really passed when poll says so.
int remaining_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

[[noreturn]] void blame(const std::vector<StageClient*>& stages, const StageError& complaint) {
  const auto deadline = Clock::now() + kBlameWindow;
  do {
    for (auto* stage : stages) {
      if (stage->index() != complaint.stage() && stage->ended()) throw stage->death();
    }
    std::vector<pollfd> links;
    for (auto* stage : stages) {
      if (stage->index() != complaint.stage()) links.push_back({stage->descriptor(), POLLRDHUP, 0});
    }
    if (::poll(links.data(), links.size(), remaining_ms(deadline)) <= 0) break;
  } while (Clock::now() < deadline);
  throw StageError(complaint);
}

}  // namespace

struct StageClient::Started {
  launch::ChildProcess process;
  wire::Link control;
};

StageClient::StageClient(int index, const StageCommand& command)
    : StageClient(index, [&] {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
          throw system_error("make a control link", errno);
        }
        wire::Link control(ends[0]);
        launch::ChildProcess process({{command.program.string(), "serve"}, command.environment},
                                     launch::FileDescriptor(ends[1]));
        return Started{std::move(process), std::move(control)};
      }()) {}

StageClient::StageClient(int index, Started started)
    : index_(index), process_(std::move(started.process)), control_(std::move(started.control)) {}

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

StageError StageClient::failure(const std::string& what) const {
  const auto output = process_.last_output();
  return {index_, true, ExitCode::environment,
          fmt::format("stage {} {}{}{}", index_, what, output.empty() ? "" : "; its last output: ", output)};
}

StageError StageClient::death() {
  return failure(process_.end(kReapTimeoutMs));
}

void for_each_reply(const std::vector<StageClient*>& stages, const WaitLimits& limits,
                    const std::function<void(StageClient&)>& take) {
  auto waiting = stages;
  while (!waiting.empty()) {
    std::vector<pollfd> events{{limits.interrupt_descriptor, POLLIN, 0}};
    for (const auto* stage : waiting) events.push_back({stage->descriptor(), POLLIN, 0});
    const int ready = ::poll(events.data(), events.size(), remaining_ms(limits.deadline));
    if (ready < 0 && errno != EINTR) throw system_error("wait for the stages", errno);
    if (ready > 0 && events.front().revents != 0) throw Interrupted();
    if (ready == 0) {
      throw waiting.front()->failure(
          "gave no answer in time and was ended; if it was merely slow, raise --trial-timeout");
    }
    if (ready < 0) continue;
    std::vector<StageClient*> silent;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (events[i + 1].revents == 0) {
        silent.push_back(waiting[i]);
        continue;
      }
      try {
        take(*waiting[i]);
      } catch (const StageError& complaint) {
        if (complaint.died()) throw;
        blame(stages, complaint);
      }
    }
    waiting = std::move(silent);
  }
}

}  // namespace paretopipe::run
