#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <functional>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <support/catch.hpp>
#include <support/processes.hpp>

#include "machine_state.hpp"

using namespace paretopipe;
using experiment::NetworkProfile;
using shaping::NamespaceRing;
using shaping::ShapedLink;
using support::capabilities;
using support::machine_state;

namespace {

NetworkProfile paced() {
  NetworkProfile profile;
  profile.forward.rate_bit_per_s = profile.backward.rate_bit_per_s = 1'000'000;
  return profile;
}

launch::ChildProcess start_stage(const NamespaceRing& networks, std::size_t stage) {
  launch::ChildCommand command;
  command.argv = {"/usr/bin/sleep", "600"};
  command.namespaces = networks.descriptors(stage);
  return {command, FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC))};
}

/// Another user than root, for whom the kernel may or may not allow user namespaces.
void become_nobody() {
  constexpr uid_t kNobody = 65534;
  if (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(9);
  ::prctl(PR_SET_DUMPABLE, 1);  // or /proc/self would stay root's, unlike that of a process that never was root
}

/// Runs `body` in a process of its own, which ends without the test program's clean-up. Returns its process id.
pid_t in_child(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(8);
    }
    ::_exit(0);
  }
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

struct Started {
  std::array<pid_t, 2> stages;
  std::array<ino_t, 2> networks;
};

std::array<ino_t, 2> networks_of(const NamespaceRing& networks) {
  return {support::network_id(networks.descriptors(0).back()), support::network_id(networks.descriptors(1).back())};
}

/// A driver: two stages in shaped networks. It says what it started, and then waits to be killed.
void be_driver(int ready) {
  const NamespaceRing networks;
  const ShapedLink link(networks, paced());
  const auto first = start_stage(networks, 0);
  const auto second = start_stage(networks, 1);
  const Started started{{first.pid(), second.pid()}, networks_of(networks)};
  if (::write(ready, &started, sizeof started) != sizeof started) return;
  ::pause();
}

/// What a killed driver leaves behind: nothing, if `as_root` or not.
void check_killed_driver(bool as_root) {
  const auto before = machine_state();
  std::array<int, 2> pipe{};
  REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
  const pid_t driver = in_child([&] {
    if (!as_root) become_nobody();
    be_driver(pipe[1]);
  });
  ::close(pipe[1]);
  Started started{};
  REQUIRE(::read(pipe[0], &started, sizeof started) == sizeof started);
  ::close(pipe[0]);
  for (const auto network : started.networks) CHECK(support::is_alive(network));

  const auto watched = support::watch({started.stages[0], started.stages[1]});
  ::kill(driver, SIGKILL);
  CHECK(WIFSIGNALED(status_of(driver)));
  CHECK(support::all_ended(watched));
  for (const auto network : started.networks) CHECK_FALSE(support::is_alive(network));
  CHECK(machine_state() == before);
}

bool is_root() {
  return ::geteuid() == 0;
}

/// Skips the test case where somebody who is not root can have no namespaces.
void need_no_root_namespaces() {
  static const bool works = [] {
    return status_of(in_child([] {
             if (is_root()) become_nobody();
             const auto tbf = shaping::find_capabilities().tbf;
             if (!tbf.works) throw EnvironmentError(tbf.detail);
           })) == 0;
  }();
  if (!works) support::skip("without root, this kernel allows no namespaces, or has no tbf");
}

}  // namespace

TEST_CASE("while a pair lives there are two networks more, and afterwards none", "[left-behind][needs:tbf]") {
  support::need(capabilities().tbf);
  const auto before = machine_state();
  std::array<ino_t, 2> ids{};
  {
    const NamespaceRing networks;
    const ShapedLink link(networks, paced());
    const auto connection = networks.connect();
    ids = networks_of(networks);
    const auto during = machine_state();
    CHECK(during.held_networks.size() == before.held_networks.size() + 2);
    for (const auto id : ids) CHECK(support::is_alive(id));
    CHECK(during.interfaces == before.interfaces);
    CHECK(during.qdiscs == before.qdiscs);
  }
  for (const auto id : ids) CHECK_FALSE(support::is_alive(id));
  CHECK(machine_state() == before);
}

TEST_CASE("a profile that cannot be applied leaves nothing behind", "[left-behind][needs:tbf]") {
  support::need(capabilities().tbf);
  const auto before = machine_state();
  auto impossible = paced();
  impossible.backward.rate_bit_per_s = 1;  // less than a byte per second, which tc refuses
  try {
    const NamespaceRing networks;
    const ShapedLink link(networks, impossible);
    FAIL("tc accepted a rate of less than a byte per second");
  } catch (const EnvironmentError&) {
  }
  CHECK(machine_state() == before);
}

TEST_CASE("a driver that is killed leaves nothing behind", "[left-behind][needs:tbf]") {
  support::need(capabilities().tbf);
  check_killed_driver(true);
}

TEST_CASE("a driver without root that is killed leaves nothing behind", "[left-behind][needs:tbf]") {
  if (!is_root()) return;  // whoever is not root has had the test before
  need_no_root_namespaces();
  check_killed_driver(false);
}

TEST_CASE("without root a pair is made in a user namespace, shaped and connected",
          "[left-behind][namespaces][needs:tbf]") {
  need_no_root_namespaces();
  const pid_t child = in_child([] {
    if (is_root()) become_nobody();
    const NamespaceRing networks;
    const ShapedLink link(networks, paced());
    const auto connection = networks.connect();
    const char byte = 'x';
    const bool works = networks.unprivileged() && networks.warnings().empty() && link.differences().empty() &&
                       ::write(connection.first.get(), &byte, 1) == 1;
    ::_exit(works ? 0 : 6);
  });
  CHECK(status_of(child) == 0);
}

TEST_CASE("a stage that is killed takes nothing of its network along", "[left-behind][needs:tbf]") {
  const auto networks = support::ring_where(capabilities().tbf);
  const ShapedLink link(networks, paced());
  auto stage = start_stage(networks, 0);
  ::kill(stage.pid(), SIGKILL);
  CHECK(stage.end(10'000) == "was killed by signal 9 (Killed)");
  CHECK(link.differences().empty());
}
