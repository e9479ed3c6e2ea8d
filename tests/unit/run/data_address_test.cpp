// The addresses of data links between devices.
#include <paretopipe/core/error.hpp>
#include <paretopipe/run/data_address.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::run;

namespace {

ReachedDevice reached(const std::string& name, const std::string& connection, const std::string& address = "") {
  ReachedDevice device;
  device.device.name = name;
  if (name != experiment::kLocalDevice) device.device.ssh = name;
  device.device.address = address;
  device.ssh_connection = connection;
  return device;
}

const ReachedDevice kHere = reached("local", "");
const ReachedDevice kPi = reached("pi", "10.0.0.1 40000 10.0.0.7 22");
const ReachedDevice kServer = reached("server", "10.0.0.1 40001 10.0.0.9 22");
const ReachedDevice kNode = reached("n1", "");

}  // namespace

TEST_CASE("a device listens at the address where SSH reached it, and this machine at the one that SSH came from") {
  CHECK(data_address(kHere, kPi) == "10.0.0.7");
  CHECK(data_address(kServer, kPi) == "10.0.0.7");
  CHECK(data_address(kPi, kHere) == "10.0.0.1");
  CHECK(data_address(reached("v6", "fe80::1%eth0 1 fe80::2%eth0 22"), kHere) == "fe80::1%eth0");
}

TEST_CASE("an address that a person gives wins, and one device reaches itself over its loopback") {
  CHECK(data_address(kHere, reached("pi", kPi.ssh_connection, "192.168.7.2")) == "192.168.7.2");
  CHECK(data_address(kPi, reached("local", "", "192.168.7.1")) == "192.168.7.1");
  CHECK(data_address(kPi, kPi) == "127.0.0.1");
  CHECK(data_address(kNode, kNode) == "127.0.0.1");
}

TEST_CASE("where nothing shows an address, the error says where to write it") {
  const auto refusal = [](const auto& from, const auto& to) {
    return support::message_of<EnvironmentError>([&] { data_address(from, to); });
  };
  CHECK(refusal(kPi, kNode) ==
        "the address at which pi reaches n1 is not known, for no SSH connection shows it; write it into the devices "
        "file: "
        "\"n1\": {\"address\": \"10.0.0.2\", …}");
  CHECK(refusal(kNode, kHere).find("\"local\": {\"address\"") != std::string::npos);
}
