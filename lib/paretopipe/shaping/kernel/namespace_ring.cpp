#include <paretopipe/core/control_descriptor.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/interrupt.hpp>
#include <paretopipe/shaping/kernel/child_descriptors.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/ranges.h>

namespace paretopipe::shaping {

namespace {

constexpr int kCommandTimeoutMs = 10'000;

/// Async-signal-safe, like everything up to the next comment of this kind.
bool write_file(const char* path, const char* text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const auto length = static_cast<ssize_t>(std::strlen(text));
  const bool written = ::write(file, text, static_cast<std::size_t>(length)) == length;
  ::close(file);
  return written;
}

/// Maps root inside to the user outside; nobody else is known inside.
bool unshare_user(ChildAnswer& answer, const char* user_map, const char* group_map) {
  return answer.check("make a user namespace", ::unshare(CLONE_NEWUSER) == 0) &&
         answer.check("forbid setgroups in a user namespace", write_file("/proc/self/setgroups", "deny")) &&
         answer.check("map the user into a user namespace", write_file("/proc/self/uid_map", user_map)) &&
         answer.check("map the group into a user namespace", write_file("/proc/self/gid_map", group_map)) &&
         answer.add("open a user namespace", ::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
}

bool unshare_networks(ChildAnswer& answer, std::size_t count) {
  for (std::size_t made = 0; made < count; ++made) {
    if (!answer.check("make a network namespace", ::unshare(CLONE_NEWNET) == 0) ||
        !answer.add("open a network namespace", ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC))) {
      return false;
    }
  }
  return true;
}

bool enter(ChildAnswer& answer, const std::vector<int>& namespaces) {
  for (const int descriptor : namespaces) {
    if (!answer.check("enter a namespace", ::setns(descriptor, 0) == 0)) return false;
  }
  return true;
}
// From here on, memory may be allocated again.

std::vector<FileDescriptor> privileged_networks(std::size_t count) {
  return descriptors_from_child([count](ChildAnswer& answer) { return unshare_networks(answer, count); });
}

std::vector<FileDescriptor> unprivileged_networks(std::size_t count) {
  const auto user_map = fmt::format("0 {} 1\n", ::geteuid());
  const auto group_map = fmt::format("0 {} 1\n", ::getegid());
  return descriptors_from_child([&](ChildAnswer& answer) {
    return unshare_user(answer, user_map.c_str(), group_map.c_str()) && unshare_networks(answer, count);
  });
}

constexpr const char* kMend =
    "The kernel must allow it: run as root (in a container: with the capability SYS_ADMIN), or let users have user "
    "namespaces "
    "with sysctl user.max_user_namespaces=15000, on Debian and Ubuntu also kernel.unprivileged_userns_clone=1 and "
    "kernel.apparmor_restrict_unprivileged_userns=0, where these exist";

/// The output of a program without its last line end.
std::string words_of(std::string output) {
  while (output.ends_with('\n')) output.pop_back();
  return output;
}

/// The link that joins two stages. Its number is that of the stage from which it leads on: 0 to 1, or the last one to
/// 0.
std::size_t link_between(std::size_t stage, std::size_t peer) {
  const auto [lower, upper] = std::minmax(stage, peer);
  return upper == lower + 1 ? lower : upper;
}

/// The number of that link's end: 1 at the stage from which it leads on, 2 at the other.
std::size_t end_of(std::size_t stage, std::size_t peer) {
  return link_between(stage, peer) == stage ? 1 : 2;
}

std::string hardware_address(std::size_t stage, std::size_t peer) {
  // 02: locally administered
  return fmt::format("02:00:00:00:{:02x}:{:02x}", link_between(stage, peer), end_of(stage, peer));
}

}  // namespace

NamespaceRing::NamespaceRing(std::size_t stages) {
  make_namespaces(stages);
  tune_tcp();
  for (std::size_t stage = 0; stage + 1 < stages; ++stage) join(stage, stage + 1);
  if (stages > 2) join(stages - 1, 0);
}

void NamespaceRing::make_namespaces(std::size_t stages) {
  std::vector<FileDescriptor> made;
  try {
    made = privileged_networks(stages);
  } catch (const EnvironmentError& privileged) {
    try {
      made = unprivileged_networks(stages);
    } catch (const EnvironmentError& unprivileged) {
      throw EnvironmentError(
          fmt::format("{}; and without privilege, {}. {}", privileged.what(), unprivileged.what(), kMend));
    }
  }
  if (made.size() > stages) {
    user_ = std::move(made.front());
    made.erase(made.begin());
  }
  networks_ = std::move(made);
}

void NamespaceRing::join(std::size_t near, std::size_t far) {
  // The second end is created in the other namespace, which has no name: ip reaches it through an inherited descriptor.
  launch::ChildCommand command;
  command.argv = {launch::find_program("ip", "iproute2").string(),
                  "link",
                  "add",
                  "name",
                  interface(far),
                  "address",
                  hardware_address(near, far),
                  "type",
                  "veth",
                  "peer",
                  "name",
                  interface(near),
                  "address",
                  hardware_address(far, near),
                  "netns",
                  fmt::format("/proc/self/fd/{}", kControlDescriptor)};
  command.namespaces = descriptors(near);
  FileDescriptor peer(::fcntl(networks_[far].get(), F_DUPFD_CLOEXEC, 0));
  if (peer.get() < 0) throw system_error("duplicate a descriptor", errno);
  const auto result = launch::run_command(command, kCommandTimeoutMs, std::move(peer));
  if (!result.succeeded) {
    throw EnvironmentError(fmt::format("join two network namespaces by a veth pair: {} {}: {}",
                                       fmt::join(command.argv, " "), result.how_it_ended, words_of(result.output)));
  }
  set_up_end(near, far);
  set_up_end(far, near);
}

void NamespaceRing::set_up_end(std::size_t stage, std::size_t peer) {
  const auto device = interface(peer);
  run_in(stage, {"ip", "link", "set", "dev", "lo", "up"});
  run_in(stage, offload_off_command(device));
  run_in(stage, {"ip", "address", "add", address(stage, peer) + "/30", "dev", device});
  run_in(stage, {"ip", "link", "set", "dev", device, "up"});
  run_in(stage, {"ip", "neighbour", "replace", address(peer, stage), "lladdr", hardware_address(peer, stage), "dev",
                 device, "nud", "permanent"});
}

void NamespaceRing::tune_tcp() {
  // 500 Mbit/s over a round trip of 400 ms are 25 MB under way; the kernel accounts twice as much.
  static constexpr std::array settings{std::pair("/proc/sys/net/ipv4/tcp_rmem", "4096 131072 134217728"),
                                       std::pair("/proc/sys/net/ipv4/tcp_wmem", "4096 65536 134217728"),
                                       std::pair("/proc/sys/net/ipv4/tcp_slow_start_after_idle", "0"),
                                       std::pair("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")};
  for (std::size_t stage = 0; stage < stage_count(); ++stage) {
    const auto namespaces = descriptors(stage);
    try {
      descriptors_from_child([&](ChildAnswer& answer) {
        bool all = enter(answer, namespaces);
        // Without IPv6 the kernel sends nothing on its own over a link to be measured. A kernel without this file has
        // no IPv6.
        if (all) write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        for (const auto& [file, value] : settings) all = all && answer.check(file, write_file(file, value));
        return all;
      });
    } catch (const EnvironmentError& error) {
      warnings_.push_back(
          fmt::format("TCP in the network of stage {} keeps the kernel's settings, with which a long fast link "
                      "cannot be filled: write {}",
                      stage, error.what()));
    }
  }
}

std::vector<int> NamespaceRing::descriptors(std::size_t stage) const {
  std::vector<int> namespaces;
  if (unprivileged()) namespaces.push_back(user_.get());
  namespaces.push_back(networks_.at(stage).get());
  return namespaces;
}

std::string NamespaceRing::address(std::size_t stage, std::size_t peer) {
  return fmt::format("10.0.{}.{}", link_between(stage, peer), end_of(stage, peer));
}

std::string NamespaceRing::interface(std::size_t peer) {
  return fmt::format("stage{}", peer);
}

std::string NamespaceRing::run_in(std::size_t stage, const Command& command) const {
  launch::ChildCommand child;
  child.argv = command;
  child.argv.front() = launch::find_program(command.front(), "iproute2").string();
  child.namespaces = descriptors(stage);
  const auto result = launch::run_command(child, kCommandTimeoutMs);
  if (!result.succeeded) {
    throw EnvironmentError(fmt::format("run \"{}\" in the network of stage {}: it {}: {}", fmt::join(command, " "),
                                       stage, result.how_it_ended, words_of(result.output)));
  }
  return result.output;
}

namespace {

constexpr std::chrono::seconds kConnectTimeout(20);  // a connection over a lossy link may need several attempts

/// A socket belongs permanently to the namespace in which it was made, whoever uses it.
FileDescriptor socket_in(const std::vector<int>& namespaces) {
  auto sockets = descriptors_from_child([&](ChildAnswer& answer) {
    return enter(answer, namespaces) &&
           answer.add("make a socket in a namespace", ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  });
  return std::move(sockets.front());
}

void check(const char* attempt, int result) {
  if (result != 0) throw system_error(attempt, errno);
}

sockaddr_in address_of(const std::string& host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

/// The one form in which the socket interface takes addresses.
sockaddr* generic(sockaddr_in& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

/// Waits for one event of poll(2), at most until the deadline.
void wait_for(int socket, short event, Clock::time_point deadline, int interrupt_descriptor) {
  constexpr const char* kAttempt = "connect two namespaces";
  std::array events{pollfd{socket, event, 0}};
  if (launch::poll_interruptibly(events, deadline, interrupt_descriptor, kAttempt) > 0) return;
  throw EnvironmentError(fmt::format("{}: nothing came through within {} s", kAttempt, kConnectTimeout.count()));
}

/// The socket is non-blocking while it connects, and blocking again afterwards.
void connect_within(int socket, sockaddr_in address, Clock::time_point deadline, int interrupt_descriptor) {
  const char* attempt = "connect two namespaces";
  const int flags = ::fcntl(socket, F_GETFL);
  check(attempt, ::fcntl(socket, F_SETFL, flags | O_NONBLOCK));
  if (::connect(socket, generic(address), sizeof address) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) throw system_error(attempt, errno);
    wait_for(socket, POLLOUT, deadline, interrupt_descriptor);
    int error = 0;
    socklen_t size = sizeof error;
    check(attempt, ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size));
    if (error != 0) throw system_error(attempt, error);
  }
  check(attempt, ::fcntl(socket, F_SETFL, flags));
}

}  // namespace

std::pair<FileDescriptor, FileDescriptor> NamespaceRing::connect(int interrupt_descriptor, std::size_t near,
                                                                 std::size_t far) const {
  const auto listener = socket_in(descriptors(near));
  auto second = socket_in(descriptors(far));
  auto address = address_of(NamespaceRing::address(near, far));
  socklen_t length = sizeof address;
  check("bind a socket in a namespace", ::bind(listener.get(), generic(address), length));
  check("listen in a namespace", ::listen(listener.get(), 1));
  check("ask for a socket's address", ::getsockname(listener.get(), generic(address), &length));

  const auto deadline = Clock::now() + kConnectTimeout;
  connect_within(second.get(), address, deadline, interrupt_descriptor);
  wait_for(listener.get(), POLLIN, deadline, interrupt_descriptor);
  FileDescriptor first(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (first.get() < 0) throw system_error("accept a connection between two namespaces", errno);

  const int on = 1;
  for (const int socket : {first.get(), second.get()}) {
    check("set TCP_NODELAY", ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  }
  return {std::move(first), std::move(second)};
}

}  // namespace paretopipe::shaping
