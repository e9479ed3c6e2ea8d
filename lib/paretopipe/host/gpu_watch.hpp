#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::host {

/// How busy a GPU was between two moments.
struct GpuUsage {
  double utilisation = 0;    ///< share of time in which any process's kernel ran: mean over the samples
  std::int64_t samples = 0;  ///< taken by the driver meanwhile, a few per second; 0: nothing is known

  bool operator==(const GpuUsage&) const = default;
};
PARETOPIPE_JSON(GpuUsage, utilisation, samples)

/// The usage over two spans of time.
GpuUsage operator+(const GpuUsage& left, const GpuUsage& right);

/// Reads the samples that NVIDIA's driver takes anyway, through its library NVML (as nvidia-smi does). Runs nothing
/// between construction and `end`. Use it from one thread.
class GpuWatch {
 public:
  /// `bus_address` is in CUDA's format, "0000:3b:00.0". Watches nothing if it is empty, if there is no such GPU, or if
  /// no library knows it.
  explicit GpuWatch(const std::string& bus_address, const std::string& library = "libnvidia-ml.so.1");
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// The usage since construction. After a long time it covers only the latest samples, because the driver keeps about
  /// the last hundred.
  GpuUsage end() const;

 private:
  class Nvml;
  std::unique_ptr<const Nvml> nvml_;  ///< null if nothing is watched
  std::uint64_t last_seen_ = 0;       ///< time of the newest sample at construction, by the driver's clock
};

}  // namespace paretopipe::host
