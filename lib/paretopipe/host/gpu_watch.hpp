#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::host {

/// How busy a GPU was between two moments.
struct GpuUsage {
  double utilisation = 0;    ///< share of the time in which a kernel ran, of whatever process: mean over the samples
  std::int64_t samples = 0;  ///< that its driver took meanwhile, a few every second; 0: nothing is known

  bool operator==(const GpuUsage&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuUsage, utilisation, samples)

/// Of two spans of time together.
GpuUsage operator+(const GpuUsage& left, const GpuUsage& right);

/// Reads the samples that NVIDIA's driver takes anyway, by its library NVML (what nvidia-smi shows). Nothing runs
/// meanwhile. To be used from one thread.
class GpuWatch {
 public:
  /// `bus_address` as CUDA has it, "0000:3b:00.0". Watches nothing if that is empty, or where there is no such GPU or
  /// no library that knows of it.
  explicit GpuWatch(const std::string& bus_address, const std::string& library = "libnvidia-ml.so.1");
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// Since construction. Of a long time, only the latest samples: the driver keeps the last hundred or so.
  GpuUsage end() const;

 private:
  class Nvml;
  std::unique_ptr<const Nvml> nvml_;  ///< null where nothing is watched
  std::uint64_t last_seen_ = 0;       ///< time of the newest sample at construction, by the driver's clock
};

}  // namespace paretopipe::host
