#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/launcher.hpp>
#include <paretopipe/run/data_address.hpp>
#include <paretopipe/shaping/network.hpp>

#include <sstream>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

struct SshConnection {
  std::string client{}, server{};
};

SshConnection parse(const std::string& text) {
  SshConnection connection;
  std::string client_port;
  std::istringstream(text) >> connection.client >> client_port >> connection.server;
  return connection;
}

}  // namespace

std::vector<std::string> launcher_of(const experiment::Device& device) {
  return device.ssh.empty() ? device.launch : launch::ssh_to(device.ssh);
}

std::string data_address(const ReachedDevice& from, const ReachedDevice& to) {
  if (from.device.name == to.device.name) return shaping::kLoopback;
  if (!to.device.address.empty()) return to.device.address;
  const auto found = to.device.local() ? parse(from.ssh_connection).client : parse(to.ssh_connection).server;
  if (!found.empty()) return found;
  throw EnvironmentError(
      fmt::format("the address at which {} reaches {} is not known, for no SSH connection shows it; write it into the "
                  "devices file: \"{}\": {{\"address\": \"10.0.0.2\", …}}",
                  from.device.name, to.device.name, to.device.name));
}

}  // namespace paretopipe::run
