#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// The name of the machine that the driver runs on.
inline constexpr const char* kLocalDevice = "local";

/// A machine for stages: how a process is started there, and how the other stages reach it. No password and no key is
/// part of it: whoever may log in may measure.
struct Device {
  std::string name = kLocalDevice;
  std::string ssh{};                  ///< a destination of ssh(1): "pi@10.0.0.7", or a host of the user's ssh_config
  std::vector<std::string> launch{};  ///< instead: a command whose stdin and stdout reach a process there
  std::string address{};              ///< at which the other stages reach it; empty: the one that SSH reached
  std::uint16_t first_port = 0;       ///< of its data links; 0: any port
  std::uint16_t last_port = 0;
  std::string program{};         ///< the stage program there; empty: the deployed one, or the one in PATH
  std::string cpus{};            ///< in the kernel's list format; empty: all that the login may use
  std::optional<int> threads{};  ///< compute threads of each of its stages
  std::string compute{};         ///< "cpu", "cuda:0"; empty: cpu
  std::string profile{};         ///< name or file of the device profile that restricts it; empty: none

  bool operator==(const Device&) const = default;

  bool local() const { return ssh.empty() && launch.empty(); }
};

/// Reads the devices of a file, an object with the device's name as key (apps/paretopipe/README.md, "On other
/// machines"):
///
///   {"pi": {"ssh": "pi@10.0.0.7", "cpus": "0-3", "threads": 4},
///    "n1": {"launch": "srun -N1 -n1 -w {node} --unbuffered --input=all", "address": "10.0.0.21"}}
///
/// {node} stands for the device's name. Paths of profiles are relative to `folder`, which is the devices file's. Throws
/// UsageError with the key's path.
std::vector<Device> devices_from_json(const nlohmann::json& json, const std::filesystem::path& folder = {});
std::vector<Device> load_devices(const std::filesystem::path& file);

/// devices.json in the user's configuration folder (XDG Base Directory Specification); empty without a home.
std::filesystem::path users_devices_file();

/// All devices of `file` (empty: of the user's file, if there is one), and this machine, first.
std::vector<Device> known_devices(const std::filesystem::path& file);

/// The devices that a person named, one for each name: a device of `file` (empty: of the user's file, if there is one),
/// "local", "ssh:DESTINATION" or "ssh://USER@HOST:PORT". Throws UsageError, which lists the known names for an unknown
/// one.
std::vector<Device> find_devices(const std::vector<std::string>& names, const std::filesystem::path& file);

}  // namespace paretopipe::experiment
