#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/launch/architecture.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/guard.hpp>
#include <paretopipe/launch/interrupt.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <termios.h>

namespace paretopipe::launch {

namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 16;
/// A stage whose driver has gone ends by itself at once, unless it computes.
constexpr int kGraceMs = 2000;

/// Writes to the stage. Returns false if the stage has stopped reading for good, or if it does not read for now and the
/// driver, which sent the bytes, has gone.
bool send_all(int stage, std::string_view bytes, int driver) {
  while (!bytes.empty()) {
    const auto sent = ::send(stage, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent > 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    std::array waiting{pollfd{stage, POLLOUT, 0}, pollfd{driver, POLLRDHUP, 0}};
    if (::poll(waiting.data(), waiting.size(), -1) > 0 && waiting[0].revents == 0) return false;
  }
  return true;
}

/// The number of bytes read; 0 at the end of the stream and after an error.
std::size_t read_some(int descriptor, std::span<char> into) {
  for (;;) {
    const auto got = ::read(descriptor, into.data(), into.size());
    if (got < 0 && errno == EINTR) continue;
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
}

/// Copies until `from` ends or `write` says that nobody reads.
template <class Write>
void pump(int from, const Write& write) {
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    const auto got = read_some(from, buffer);
    if (got == 0 || !write(std::string_view(buffer.data(), got))) return;
  }
}

std::optional<std::string> read_line(int descriptor) {
  std::string line;
  for (char byte = 0; line.size() < kLongestLine;) {
    if (read_some(descriptor, {&byte, 1}) == 0) return std::nullopt;
    if (byte == '\n') return line;
    line.push_back(byte);
  }
  return std::nullopt;
}

/// The launcher's stdin and stdout. They are moved to descriptors to which no library prints. A pseudo-terminal, which
/// srun and kubectl may put there, is set to translate nothing.
struct Stream {
  FileDescriptor in, out;
};

FileDescriptor moved_away(int descriptor) {
  FileDescriptor moved(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 2));
  if (moved.get() < 0) throw system_error("keep the control link", errno);
  termios terminal{};
  if (::tcgetattr(moved.get(), &terminal) == 0) {
    ::cfmakeraw(&terminal);
    ::tcsetattr(moved.get(), TCSANOW, &terminal);
  }
  return moved;
}

Stream take_stream() {
  Stream stream{moved_away(STDIN_FILENO), moved_away(STDOUT_FILENO)};
  const FileDescriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (::dup2(null.get(), STDIN_FILENO) < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw system_error("keep the control link apart from what is printed", errno);
  }
  return stream;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A terminal would put the signs of life among the frames.
bool gives_signs_of_life() {
  return ::isatty(STDERR_FILENO) == 0;
}

/// Serves the stage with three threads. One passes the driver's bytes on, and ends the stage when the driver has gone.
/// One passes the stage's bytes on and reaps the stage. One gives signs of life, which the driver's machine has to
/// acknowledge: if that machine has vanished, TCP finds it out. Without them, nothing might be under way for hours.
class GuardedStage {
 public:
  GuardedStage(const std::filesystem::path& program, const GuardOrder& order) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw system_error("make a control link", errno);
    }
    control_ = FileDescriptor(ends[0]);
    child_.emplace(ChildCommand{.argv = {program.string(), "serve"}, .environment = order.environment},
                   FileDescriptor(ends[1]));
  }

  int serve(const Stream& stream) {
    std::thread([this, in = stream.in.get()] {
      pump(in, [&](std::string_view bytes) { return send_all(control_.get(), bytes, in); });
      end_after_driver();
    }).detach();  // it may wait for the driver for ever
    if (gives_signs_of_life()) {
      std::thread([] {
        do {
          std::this_thread::sleep_for(kSignOfLifeEvery);
        } while (write_all(STDERR_FILENO, "\n") == 0);
      }).detach();
    }
    pump(control_.get(), [&](std::string_view bytes) { return write_all(stream.out.get(), bytes) == 0; });
    return conclude();
  }

 private:
  /// The end of the link tells the stage to end. It is killed if it does not.
  void end_after_driver() {
    ::shutdown(control_.get(), SHUT_WR);
    std::this_thread::sleep_for(std::chrono::milliseconds(kGraceMs));
    const std::lock_guard lock(mutex_);
    if (!reaped_) ::kill(-child_->pid(), SIGKILL);
  }

  int conclude() {
    const std::lock_guard lock(mutex_);
    const auto how = child_->end(kGraceMs);
    reaped_ = true;
    if (child_->succeeded()) return 0;
    const auto output = child_->last_output();
    print_notice("the stage process {}{}{}\n", how, output.empty() ? "" : "; its last output: ", output);
    return static_cast<int>(ExitCode::environment);
  }

  FileDescriptor control_;
  std::optional<ChildProcess> child_;
  std::mutex mutex_;
  bool reaped_ = false;
};

}  // namespace

std::filesystem::path guarded_program() {
  const auto chosen = variable("PARETOPIPE_STAGE");
  return chosen.empty() ? std::filesystem::read_symlink("/proc/self/exe") : std::filesystem::path(chosen);
}

int guard_stage(const std::filesystem::path& program) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto stream = take_stream();
  if (write_all(stream.out.get(), fmt::format("\n{}\n", kGuardMarker)) != 0) return 0;
  const auto line = read_line(stream.in.get());
  if (!line) return 0;  // the driver has changed its mind
  GuardOrder order;
  nlohmann::json::parse(*line).at("environment").get_to(order.environment);
  GuardedStage stage(program, order);
  const nlohmann::json answer{{"release", version()},
                              {"architecture", own_architecture()},
                              {"ssh_connection", variable("SSH_CONNECTION")},
                              {"signs_of_life", gives_signs_of_life()}};
  write_all(stream.out.get(), answer.dump() + "\n");
  // The thread that waits for the driver needs the stage as long as this process lives.
  ::_exit(stage.serve(stream));
}

namespace {

/// Reads lines from the driver's end of the control link. Never reads past the end of a line, because frames may
/// follow.
class Reader {
 public:
  Reader(int control, Clock::time_point deadline, int interrupt_descriptor)
      : control_(control), deadline_(deadline), interrupt_(interrupt_descriptor) {}

  /// The next line without its end. Throws what meet_guard does.
  std::string line() {
    std::string text;
    for (;;) {
      const char byte = next();
      if (byte == '\n') break;
      if (byte != '\r' && text.size() < kLongestLine) text.push_back(byte);
    }
    if (!text.empty()) last_ = text;
    return text;
  }

 private:
  char next() {
    std::array events{pollfd{control_, POLLIN, 0}};
    const std::string attempt = "wait for the stage program";
    if (poll_interruptibly(events, deadline_, interrupt_, attempt) == 0) fail("did not answer in time");
    char byte = 0;
    if (read_some(control_, {&byte, 1}) == 0) fail("ended before the stage program had answered");
    return byte;
  }

  [[noreturn]] void fail(const char* what) const {
    throw EnvironmentError(
        fmt::format("{}{}", what, last_.empty() ? "" : fmt::format("; the last line that it printed: {}", last_)));
  }

  int control_;
  Clock::time_point deadline_;
  int interrupt_;
  std::string last_;
};

}  // namespace

GuardAnswer meet_guard(int control, const GuardOrder& order, Clock::time_point deadline, int interrupt_descriptor) {
  Reader reader(control, deadline, interrupt_descriptor);
  while (reader.line() != kGuardMarker) {
  }
  const auto text = nlohmann::json{{"environment", order.environment}}.dump() + "\n";
  if (::send(control, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    throw EnvironmentError("ended before the stage program had answered");
  }
  GuardAnswer answer;
  try {
    const auto json = nlohmann::json::parse(reader.line());
    json.at("release").get_to(answer.release);
    json.at("architecture").get_to(answer.architecture);
    json.at("ssh_connection").get_to(answer.ssh_connection);
    answer.signs_of_life = json.value("signs_of_life", false);
  } catch (const nlohmann::json::exception& error) {
    throw EnvironmentError(fmt::format("answered in another way than a stage program does ({})", reason_of(error)));
  }
  return answer;
}

}  // namespace paretopipe::launch
