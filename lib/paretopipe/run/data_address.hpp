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

/// The address at which `to` has to listen for `from`. That is the one that the devices file says, or else one that SSH
/// has just used: where it reached the device, or where it came from, if `to` is this machine. What a host takes for
/// its own name is never asked (Debian's /etc/hosts says 127.0.1.1). Stages of one device use its loopback. Throws
/// EnvironmentError, with what to write into the devices file, if neither is known.
std::string data_address(const ReachedDevice& from, const ReachedDevice& to);

}  // namespace paretopipe::run
