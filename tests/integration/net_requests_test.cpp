// What `net` answers without touching any interface.
#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "net_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

TEST_CASE("the profiles are listed, for people and for programs", "[net]") {
  const auto table = run_driver({"net", "show"});
  CHECK(table.exit_code == 0);
  CHECK(contains(table.output, "wifi"));
  CHECK(contains(table.output, "2.00 ms +- 1.00 ms"));
  const auto json = nlohmann::json::parse(run_driver({"net", "show", "--format", "json"}).output);
  REQUIRE(json.size() == 8);
  for (const auto& profile : json) CHECK_FALSE(profile.at("description").get<std::string>().empty());
}

TEST_CASE("one profile is shown in full", "[net]") {
  const auto text = run_driver({"net", "show", "lte"});
  CHECK(text.exit_code == 0);
  CHECK(contains(text.output, "forward   25.0 ms +- 5.00 ms"));
  const auto json = nlohmann::json::parse(run_driver({"net", "show", "published", "--format", "json"}).output);
  CHECK(json.at("forward").at("rate_bit_per_s") == 5'000'000);
  CHECK(run_driver({"net", "show", "wify"}).exit_code == 2);
}

TEST_CASE("a plan is printed for an interface that this machine need not have", "[net]") {
  const auto plan = run_driver({"net", "plan", "wifi", "--interface", "nosuch0", "--peer", "192.168.1.7"});
  CHECK(plan.exit_code == 0);
  CHECK(contains(plan.output, "tc qdisc add dev nosuch0 root handle 7a7a: htb default 0"));
  CHECK(contains(plan.output, "# undo:\ntc qdisc del dev nosuch0 root handle 7a7a:\n"));
  const auto backward = run_driver({"net", "plan", "lte", "--interface", "nosuch0", "--direction", "backward"});
  CHECK(contains(backward.output, "tc qdisc add dev nosuch0 root handle 1: netem"));
  CHECK(contains(backward.output, "rate 40000000bit"));
  CHECK(contains(backward.errors, "SSH included"));
}

TEST_CASE("a wrong request is a sentence", "[net]") {
  struct Refused {
    Words words;
    std::string named;
  };
  const auto refused = GENERATE(values<Refused>({
      {{"net"}, "subcommand"},
      {{"net", "plam"}, "did you mean \"plan\"?"},
      {{"net", "plan", "wify", "--interface", "x"}, "did you mean \"wifi\"?"},
      {{"net", "plan", "unshaped", "--interface", "x"}, "shapes nothing forward"},
      {{"net", "plan", "wifi", "--interface", "a b"}, "cannot be an interface's name"},
      {{"net", "plan", "wifi", "--interface", "x", "--port", "5"}, "--port needs --peer"},
      {{"net", "plan", "wifi", "--interface", "x", "--peer", "here"}, "is not an IP address"},
      {{"net", "plan", "wifi", "--interface", "x", "--peer", "10.0.0.1", "--port", "0"}, "--port"},
      {{"net", "apply", "wifi", "--interface", "x", "--for", "5s"}, "--peer"},
      {{"net", "apply", "wifi", "--interface", "x", "--peer", "10.0.0.1"}, "--for"},
      {{"net", "apply", "wifi", "--interface", "x", "--peer", "10.0.0.1", "--for", "2"}, "no unit of time"},
      {{"net", "apply", "wifi", "--interface", "x", "--peer", "10.0.0.1", "--for", "1ms"}, "between 1s and"},
      {{"net", "clear", "--interface", "-x"}, "interface"},
      {{"net", "keep-lease"}, "for `paretopipe net apply` alone"},
      {{"net", "probe"}, "--listen"},
      {{"net", "probe", "somewhere"}, "is not an address with a port"},
      {{"net", "probe", "127.0.0.1:1", "--for", "1h"}, "no unit of time"},
      {{"net", "probe", "127.0.0.1:1", "--keep"}, "--listen"},
  }));
  const auto answer = run_driver(refused.words);
  INFO(answer.errors);
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors + answer.output, refused.named));
}

TEST_CASE("the help of apply says what the lease promises, and the keeper is not shown", "[net]") {
  const auto help = run_driver({"net", "apply", "--help"});
  CHECK(help.exit_code == 0);
  CHECK(contains(help.output, "The lease:"));
  CHECK_FALSE(contains(run_driver({"net", "--help"}).output, "keep-lease"));
}
