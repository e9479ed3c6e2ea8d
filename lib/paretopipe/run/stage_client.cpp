#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/architecture.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/launch/launcher.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/run/stall_watch.hpp>
#include <paretopipe/wire/frame.hpp>

#include <array>
#include <cerrno>
#include <exception>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// A link may close a moment before the process behind it can be reaped.
constexpr int kReapTimeoutMs = 1000;
/// Longer than a guard gives a stage that computes (launch/guard.cpp).
constexpr int kLaunchedEndTimeoutMs = 4000;

launch::ChildCommand child_command(const StageCommand& command) {
  if (!command.launcher.empty()) {
    return {.argv = launch::with_found_program(command.launcher), .control_is_stdio = true};
  }
  return {{command.program.string(), "serve"}, command.environment, command.namespaces, command.cgroups};
}

StageError::Kind kind_of(stage::FaultKind kind) {
  switch (kind) {
    case stage::FaultKind::refused:
      return StageError::Kind::refused;
    case stage::FaultKind::peer_lost:
      return StageError::Kind::peer_lost;
    case stage::FaultKind::process_lost:
      break;
  }
  return StageError::Kind::died;
}

/// What may help if a launcher ends before the stage program has answered. The shell's statuses are POSIX's.
std::string advice_for(const std::string& how_it_ended, const std::string& launcher) {
  if (how_it_ended == "exited with status 127" || how_it_ended == "exited with status 126") {
    return "; install paretopipe there, run `paretopipe devices deploy`, or name its stage program in the devices file";
  }
  if (how_it_ended == "exited with status 255" && launcher == "ssh") {
    return "; `ssh` to the device from a shell must work without a question first";
  }
  return "; `paretopipe devices check` says more";
}

/// True if reading the next message cannot block: all of it is in the socket, or its header is wrong.
bool holds_whole_message(int socket) {
  wire::HeaderBytes bytes;
  int held = 0;
  if (::ioctl(socket, FIONREAD, &held) != 0) return false;
  if (::recv(socket, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT) != std::ssize(bytes)) return false;
  try {
    const auto header = wire::decode(bytes);
    const auto* frame = std::get_if<wire::ControlFrame>(&header);
    return frame == nullptr || static_cast<std::uint64_t>(held) >= wire::kHeaderBytes + frame->body_bytes;
  } catch (const wire::ProtocolError&) {
    return true;
  }
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
        FileDescriptor theirs(ends[1]);  // closed even if the program cannot be started
        launch::ChildProcess process(child_command(command), std::move(theirs));
        return Started{std::move(process), std::move(control)};
      }()) {}

StageClient::StageClient(int index, const StageCommand& command, Started started)
    : index_(index),
      name_(command.name.empty() ? fmt::format("stage {}", index) : command.name),
      cause_of_death_(command.cause_of_death),
      launched_with_(command.launcher.empty() ? ""
                                              : std::filesystem::path(command.launcher.front()).filename().string()),
      order_{command.environment},
      process_(std::move(started.process)),
      control_(std::move(started.control)) {}

/// Ends the link first. The launcher passes that on, so that the guard ends the stage. A killed launcher would leave
/// the stage to its host.
StageClient::~StageClient() {
  if (launched_with_.empty()) return;
  control_.shutdown();
  process_.end(kLaunchedEndTimeoutMs);
}

void StageClient::meet(Clock::time_point deadline, int interrupt_descriptor) {
  if (launched_with_.empty()) return;
  try {
    guard_ = launch::meet_guard(control_.native_handle(), order_, deadline, interrupt_descriptor);
  } catch (const EnvironmentError& error) {
    const auto how = process_.end(kReapTimeoutMs);
    if (launch::tells_of_other_architecture(process_.last_output())) throw other_architecture();
    throw failure(fmt::format("cannot be started: {} {} ({}){}", launched_with_, error.what(), how,
                              advice_for(how, launched_with_)));
  }
  output_before_signs_ = process_.output_size();
  if (guard_->release == version()) return;
  throw failure(
      fmt::format("is of release {}, and this driver of {}: they would not measure the same; install the same "
                  "release, or run `paretopipe devices deploy`",
                  guard_->release, version()));
}

std::optional<std::size_t> StageClient::signs_of_life() const {
  const auto size = process_.output_size();
  const bool heard = guard_ && guard_->signs_of_life && size > output_before_signs_;  // a launcher may withhold stderr
  return heard ? std::optional(size) : std::nullopt;
}

void StageClient::send_body(const std::string& body) {
  try {
    control_.send_control_body(body);
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

void StageClient::transfer_within(const WaitLimits& limits, const std::function<void()>& transfers,
                                  const char* late_for) {
  const FileDescriptor done(::eventfd(0, EFD_CLOEXEC));
  if (done.get() < 0) throw system_error("watch a transfer with " + name_, errno);
  bool late = false;
  std::exception_ptr interrupted;
  std::thread watch([&] {
    std::array events{pollfd{done.get(), POLLIN, 0}};
    try {
      late = launch::poll_interruptibly(events, limits.deadline, limits.interrupt_descriptor, "wait for " + name_) == 0;
    } catch (const Error&) {
      interrupted = std::current_exception();
    }
    if (late || interrupted) control_.shutdown();
  });
  std::exception_ptr lost;
  try {
    transfers();
  } catch (...) {  // rethrown when the thread has ended
    lost = std::current_exception();
  }
  ::eventfd_write(done.get(), 1);
  watch.join();
  if (interrupted) std::rethrow_exception(interrupted);
  if (late) throw failure(std::string(late_for) + (limits.of_trial ? kRaiseTimeout : ""));
  if (lost) std::rethrow_exception(lost);
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

/// A thread that watches costs more than a short message, which nearly always is in the socket as a whole.
bool StageClient::take_message(const WaitLimits& limits) {
  if (holds_whole_message(control_.native_handle())) return take_message();
  bool is_reply = false;
  transfer_within(
      limits, [&] { is_reply = take_message(); }, "did not send in time the rest of what it began to send");
  return is_reply;
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

StageError StageClient::error_of(const stage::Fault& fault) const {
  return {stage(), kind_of(fault.kind), static_cast<ExitCode>(fault.exit_code), fault.reason};
}

StageError StageClient::failure(const std::string& what) const {
  const auto output = process_.last_output();
  return {stage(), StageError::Kind::died, ExitCode::environment,
          fmt::format("{} {}{}{}", name_, what, output.empty() ? "" : "; its last output: ", output)};
}

/// Leaves out the last output, which is the program's bytes if a shell took it for a script.
StageError StageClient::other_architecture() const {
  return {stage(), StageError::Kind::died, ExitCode::environment,
          fmt::format("{} cannot be started: its stage program is built for another architecture; install a paretopipe "
                      "there that was built for it, or name its stage program in the devices file",
                      name_)};
}

StageError StageClient::death() {
  const auto how = process_.end(kReapTimeoutMs);
  return failure(cause_of_death_ ? how + cause_of_death_() : how);
}

std::vector<std::string> other_build_notices(const std::vector<experiment::Device>& on,
                                             const std::vector<stage::Configured>& configured) {
  std::vector<std::string> notices;
  for (std::size_t i = 0; i < on.size(); ++i) {
    const auto& there = configured.at(i).git_state;
    if (on[i].local() || there == git_state()) continue;
    notices.push_back(fmt::format(
        "device {} runs a stage program of another build ({}, this driver is of {}): what it measures is that build's; "
        "{}",
        on[i].name, there.empty() ? "an older one" : record::printable(there), git_state(),
        on[i].program.empty() ? "`paretopipe devices deploy` copies this one" : "the devices file names it"));
  }
  return notices;
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
        if (waiting[i]->take_message(limits)) {
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
