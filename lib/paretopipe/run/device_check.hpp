#pragma once
#include <paretopipe/analysis/stats/clock_bounds.hpp>
#include <paretopipe/experiment/device.hpp>
#include <paretopipe/host/health.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/host/thermal.hpp>
#include <paretopipe/host/wall_clock.hpp>
#include <paretopipe/run/pipeline.hpp>
#include <paretopipe/stage/messages.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Checks devices before hours are spent on a sweep: a stage is started on each and asked about its
// machine and its clock, and any two measure the ways between them.
namespace paretopipe::run {

/// How far a device's wall clock and ours are apart.
struct WallClocks {
  stats::OffsetInterval offset{};            ///< its clock less ours, as exchanges with its stage show
  std::optional<std::int64_t> claimed_ns{};  ///< the most that both time daemons allow; absent if one clock has none

  /// True if the clocks are further apart than the time daemons promise.
  bool contradicted() const { return claimed_ns && (offset.low > *claimed_ns || offset.high < -*claimed_ns); }
};

/// `steady`: the device's steady clock less ours.
WallClocks compare_wall_clocks(const stats::OffsetInterval& steady, const host::WallClock& device,
                               const host::WallClock& own);

/// What was found out about one device. Absent fields could not be found out because of its problem.
struct CheckedDevice {
  experiment::Device device{};
  std::optional<std::string> problem{};  ///< why no stage can run there, and what to do
  std::string release{};                 ///< of its stage program
  std::string cpus{};                    ///< that its stage may use
  std::optional<host::HostContext> host{};
  nlohmann::json compute{};  ///< stage::Configured's
  std::vector<host::Finding> findings{};
  host::ThermalState thermal{};
  bool shares_clock = false;                            ///< with this process
  std::optional<stats::OffsetInterval> clock_offset{};  ///< its clock less ours; none if it was stepped meanwhile
  std::optional<WallClocks> wall_clocks{};              ///< likewise

  bool well() const { return !problem && host::worst(findings) != host::Level::problem; }
};

/// The way from one device to another.
struct CheckedLink {
  std::string from{};
  std::string to{};
  std::optional<std::string> problem{};  ///< why `from` cannot reach `to`, and what to do
  std::optional<stage::LinkProbed> probed{};
};

struct DeviceCheck {
  std::vector<CheckedDevice> devices;
  std::vector<CheckedLink> links;  ///< every ordered pair of devices without a problem

  bool well() const;
};

void to_json(nlohmann::json& json, const CheckedDevice& device);
void to_json(nlohmann::json& json, const CheckedLink& link);
void to_json(nlohmann::json& json, const DeviceCheck& check);

struct DeviceCheckOptions {
  std::vector<experiment::Device> devices{};
  std::filesystem::path stage_program{};  ///< of this machine
  std::string program_sha256{};           ///< under which a device finds the one that was deployed there
  int interrupt_descriptor = -1;
  std::function<void(const std::string&)> progress{};  ///< told what is being looked at; may be empty
};

/// Looks at all devices at the same time, then at the ways between them one by one, because they may share a network.
/// Problems of a device or a way are part of the answer. Throws Interrupted, and EnvironmentError if this machine
/// cannot start processes.
DeviceCheck check_devices(const DeviceCheckOptions& options);

}  // namespace paretopipe::run
