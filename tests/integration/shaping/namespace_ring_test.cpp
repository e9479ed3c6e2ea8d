#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

#include <algorithm>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

#include <support/catch.hpp>
#include <support/thrown.hpp>

#include "machine_state.hpp"

using namespace paretopipe;
using shaping::NamespaceRing;
using support::capabilities;
using support::check_throws;
using support::contains;

namespace {

/// The network in which a program started with `namespaces` finds itself.
std::string network_of(const std::vector<int>& namespaces) {
  launch::ChildCommand command;
  command.argv = {"/usr/bin/readlink", "/proc/self/ns/net"};
  command.namespaces = namespaces;
  return launch::run_command(command, 10'000).output;
}

bool carries_a_byte(int from, int to) {
  char byte = 'x';
  if (::send(from, &byte, 1, 0) != 1) return false;
  byte = 0;
  return ::recv(to, &byte, 1, 0) == 1 && byte == 'x';
}

}  // namespace

TEST_CASE("three stages are a ring: every stage reaches the next one, the last one the first, over links of their own",
          "[needs:namespaces]") {
  const auto networks = support::ring_where(capabilities().namespaces, 3);
  for (const auto& [near, far] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 2}, {2, 0}}) {
    CAPTURE(near, far);
    const auto [first, second] = networks.connect(-1, near, far);
    CHECK(carries_a_byte(first.get(), second.get()));
    CHECK(contains(networks.run_in(near, {"ip", "-o", "link", "show"}), NamespaceRing::interface(far) + "@"));
    CHECK(NamespaceRing::address(near, far) != NamespaceRing::address(far, near));
  }
}

TEST_CASE("a program is started in the network of its stage", "[namespaces][needs:namespaces]") {
  const auto networks = support::ring_where(capabilities().namespaces);
  const auto first = network_of(networks.descriptors(0));
  const auto second = network_of(networks.descriptors(1));
  CHECK(contains(first, "net:["));
  CHECK(first != second);
  CHECK(first != network_of({}));
  CHECK(second != network_of({}));
}

TEST_CASE("a stage sees its own loopback and its link, and nothing of the machine", "[namespaces][needs:namespaces]") {
  const auto networks = support::ring_where(capabilities().namespaces);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    const auto links = networks.run_in(stage, {"ip", "-o", "link", "show"});
    CAPTURE(links);
    CHECK(contains(links, "lo: <LOOPBACK,UP"));
    CHECK(contains(links, NamespaceRing::interface(1 - stage) + "@"));
    CHECK(std::count(links.begin(), links.end(), '\n') == 2);
    CHECK(contains(networks.run_in(stage, {"ip", "-d", "link", "show", "dev", NamespaceRing::interface(1 - stage)}),
                   "gso_max_segs 1 "));
    CHECK(contains(networks.run_in(stage, {"ip", "neighbour", "show"}), NamespaceRing::address(1 - stage, stage)));
  }
  CHECK(networks.warnings().empty());
}

TEST_CASE("a connection made here runs over the link between the networks", "[namespaces][needs:namespaces]") {
  const auto networks = support::ring_where(capabilities().namespaces);
  const auto [first, second] = networks.connect();
  CHECK(carries_a_byte(first.get(), second.get()));
  CHECK(carries_a_byte(second.get(), first.get()));
  networks.run_in(0, {"ip", "link", "set", "dev", NamespaceRing::interface(1), "down"});
  char byte = 'x';
  CHECK(::send(first.get(), &byte, 1, MSG_DONTWAIT) == 1);
  CHECK(::recv(second.get(), &byte, 1, MSG_DONTWAIT) == -1);  // the link is down, so nothing arrives
}

TEST_CASE("two pairs have the same addresses and nothing to do with each other", "[namespaces][needs:namespaces]") {
  support::need(capabilities().namespaces);
  const NamespaceRing one;
  const NamespaceRing other;
  const auto first = one.connect();
  const auto second = other.connect();
  CHECK(carries_a_byte(first.first.get(), first.second.get()));
  CHECK(carries_a_byte(second.first.get(), second.second.get()));
  CHECK(network_of(one.descriptors(0)) != network_of(other.descriptors(0)));
}

TEST_CASE("a command that fails in a stage's network is shown with what it said", "[namespaces][needs:namespaces]") {
  const auto networks = support::ring_where(capabilities().namespaces);
  check_throws<EnvironmentError>(
      [&] {
        networks.run_in(1, {"tc", "qdisc", "del", "dev", "nosuch", "root"});
      },
      {"run \"tc qdisc del dev nosuch root\" in the network of stage 1: it exited with status 1: Cannot find device"});
}

TEST_CASE("a program that cannot enter its namespace is not started", "[namespaces]") {
  launch::ChildCommand command;
  command.argv = {"/usr/bin/true"};
  command.namespaces = {STDIN_FILENO};
  CHECK_THROWS_WITH(launch::run_command(command, 10'000), "start /usr/bin/true: Invalid argument");
}

TEST_CASE("a program that is not installed is named with its package", "[namespaces]") {
  CHECK_THROWS_WITH(launch::find_program("no-such-launcher", ""),
                    "the program no-such-launcher is not installed; install it, or name its path");
  CHECK_THROWS_WITH(launch::find_program("no-such-program", "some-package"),
                    "the program no-such-program is not installed; install the package some-package "
                    "(sudo apt-get install some-package)");
}
