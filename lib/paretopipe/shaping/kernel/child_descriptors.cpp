#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/kernel/child_descriptors.hpp>

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paretopipe::shaping {

namespace {

/// Sent along with the descriptors.
struct Report {
  int reason;
  std::array<char, 80> step;
};

constexpr std::size_t kControlBytes = CMSG_SPACE(ChildAnswer::kMostDescriptors * sizeof(int));

struct Message {
  explicit Message(Report& report) : part{&report, sizeof report} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  iovec part;
  msghdr header{};
};

/// Async-signal-safe.
bool send_answer(int socket, Report report, const int* descriptors, std::size_t count) {
  Message message(report);
  if (count == 0) {
    message.header.msg_control = nullptr;
    message.header.msg_controllen = 0;
  } else {
    message.header.msg_controllen = CMSG_SPACE(count * sizeof(int));
    auto* rights = CMSG_FIRSTHDR(&message.header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
  }
  return ::sendmsg(socket, &message.header, MSG_NOSIGNAL) == sizeof report;
}

/// False if the child ended without an answer.
bool receive_answer(int socket, Report& report, std::vector<FileDescriptor>& descriptors) {
  Message message(report);
  ssize_t got = 0;
  do got = ::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != sizeof report) return false;
  if (const auto* rights = CMSG_FIRSTHDR(&message.header); rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    const auto count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t index = 0; index < count; ++index) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(rights) + index * sizeof(int), sizeof descriptor);
      descriptors.emplace_back(descriptor);
    }
  }
  return true;
}

}  // namespace

bool ChildAnswer::add(const char* step, int descriptor) {
  if (!check(step, descriptor >= 0)) return false;
  descriptors_[count_++] = descriptor;
  return true;
}

bool ChildAnswer::check(const char* step, bool succeeded) {
  if (succeeded) return true;
  reason_ = errno;
  std::strncpy(step_.data(), step, step_.size() - 1);
  return false;
}

std::vector<FileDescriptor> descriptors_from_child(const std::function<bool(ChildAnswer&)>& work) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
    throw system_error("make a socket pair", errno);
  const FileDescriptor ours(pair[0]);
  FileDescriptor theirs(pair[1]);

  const pid_t child = ::fork();
  if (child < 0) throw system_error("start a child process", errno);
  if (child == 0) {
    ChildAnswer answer;
    const bool done = work(answer);
    const bool sent =
        send_answer(theirs.get(), {answer.reason_, answer.step_}, answer.descriptors_.data(), done ? answer.count_ : 0);
    ::_exit(sent ? 0 : 1);
  }
  theirs.reset();
  Report report{};
  std::vector<FileDescriptor> descriptors;
  const bool answered = receive_answer(ours.get(), report, descriptors);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!answered) throw EnvironmentError("a child process that was to enter a namespace ended without an answer");
  if (report.reason != 0) throw system_error(report.step.data(), report.reason);
  return descriptors;
}

}  // namespace paretopipe::shaping
