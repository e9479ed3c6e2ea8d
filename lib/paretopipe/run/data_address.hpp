#pragma once
#include <paretopipe/experiment/device.hpp>

#include <string>
#include <vector>

namespace paretopipe::run {

/// A device as its stage's guard has answered from it.
struct ReachedDevice {
  experiment::Device device{};
  std::string ssh_connection{};  ///< sshd's SSH_CONNECTION there: "client port server port"; empty without SSH
};

/// The command whose stdin and stdout reach a device: ssh, or the one of the devices file. Empty for this machine.
std::vector<std::string> launcher_of(const experiment::Device& device);

/// The address at which `to` has to listen for `from`. The devices file may give one. Otherwise it is one that SSH has
/// just used: where it reached the device or, if `to` is this machine, where it came from. A host is never asked for
/// the address of its own name (Debian's /etc/hosts says 127.0.1.1). Stages of one device use its loopback. Throws
/// EnvironmentError, with what to write into the devices file, if no address is known.
std::string data_address(const ReachedDevice& from, const ReachedDevice& to);

}  // namespace paretopipe::run
