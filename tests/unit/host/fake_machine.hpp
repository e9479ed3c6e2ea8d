#pragma once
#include <paretopipe/host/control_groups.hpp>
#include <paretopipe/host/observe.hpp>
#include <paretopipe/host/thermal.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <support/files.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::host {

/// A root folder with the files of a machine that nobody has at hand.
class FakeMachine {
 public:
  /// Writes `text` and the end of a line.
  FakeMachine& write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root() / file).parent_path());
    support::write_file(root() / file, text + "\n");
    return *this;
  }
  FakeMachine& write_zone(int number, const std::string& type, const std::string& millidegrees) {
    const auto folder = "sys/class/thermal/thermal_zone" + std::to_string(number);
    return write(folder + "/type", type).write(folder + "/temp", millidegrees);
  }
  /// A Raspberry Pi's bits.
  FakeMachine& write_throttled(const std::string& bits) {
    return write("sys/devices/platform/soc/soc:firmware/get_throttled", bits);
  }
  FakeMachine& write_frequency(int cpu, const std::string& kilohertz) {
    return write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq", kilohertz);
  }

  const std::filesystem::path& root() const { return root_.path(); }
  Observations observe() const { return host::observe(std::nullopt, root()); }
  std::int64_t usable_memory_bytes() const { return host::usable_memory_bytes(root()); }
  ThermalState thermal_state(const CpuSet& cpus = {0}) const { return read_thermal_state(cpus, root()); }

 private:
  support::TemporaryFolder root_;
};

}  // namespace paretopipe::host
