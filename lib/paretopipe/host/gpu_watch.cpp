#include <paretopipe/host/gpu_watch.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>

namespace paretopipe::host {

GpuUsage operator+(const GpuUsage& left, const GpuUsage& right) {
  const auto samples = left.samples + right.samples;
  if (samples == 0) return {};
  const auto weighted = [](const GpuUsage& usage) { return usage.utilisation * static_cast<double>(usage.samples); };
  return {(weighted(left) + weighted(right)) / static_cast<double>(samples), samples};
}

/// One GPU and the NVML library, through which it is read. The parts of nvml.h that are used (NVML API reference,
/// "Device Queries") are declared here, because the library comes with the driver and is loaded only when needed. A
/// machine without it works as well.
class GpuWatch::Nvml {
 public:
  struct Sample {
    unsigned long long time_us;
    union {
      double real;
      unsigned int number;
      unsigned long long large_number;
    } value;  ///< utilisation is a `number`, in percent
  };

  /// Throws std::runtime_error if there is no such library or GPU.
  Nvml(const std::string& bus_address, const std::string& library)
      : library_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error("there is no such library");
    find("nvmlDeviceGetSamples", get_samples_);
    find("nvmlShutdown", shutdown_);
    Status (*initialise)() = nullptr;
    Status (*find_device)(const char*, Device*) = nullptr;
    find("nvmlInit_v2", initialise);
    find("nvmlDeviceGetHandleByPciBusId_v2", find_device);
    require(initialise());
    if (find_device(bus_address.c_str(), &device_) == kSuccess) return;
    shutdown_();
    throw std::runtime_error("it knows no such GPU");
  }
  ~Nvml() { shutdown_(); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// The samples taken later than `time_us`; empty if the driver does not tell.
  std::vector<Sample> samples_after(std::uint64_t time_us) const {
    int type = 0;
    unsigned int count = 0;
    if (get_samples_(device_, kGpuUtilisationSamples, time_us, &type, &count, nullptr) != kSuccess) return {};
    std::vector<Sample> samples(count);
    const auto status = get_samples_(device_, kGpuUtilisationSamples, time_us, &type, &count, samples.data());
    if (status != kSuccess || type != kUnsignedInt) return {};
    samples.resize(std::min<std::size_t>(count, samples.size()));
    return samples;
  }

 private:
  using Status = int;
  using Device = void*;
  static constexpr Status kSuccess = 0;
  static constexpr int kGpuUtilisationSamples = 1;  // nvmlSamplingType_t
  static constexpr int kUnsignedInt = 1;            // nvmlValueType_t

  struct Closer {
    void operator()(void* library) const { ::dlclose(library); }
  };

  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(::dlsym(library_.get(), name));
    if (function == nullptr) throw std::runtime_error("it is no NVML");
  }

  static void require(Status status) {
    if (status != kSuccess) throw std::runtime_error("it refuses");
  }

  std::unique_ptr<void, Closer> library_;
  Status (*shutdown_)() = nullptr;
  Status (*get_samples_)(Device, int, unsigned long long, int*, unsigned int*, Sample*) = nullptr;
  Device device_ = nullptr;
};

GpuWatch::GpuWatch(const std::string& bus_address, const std::string& library) {
  if (bus_address.empty()) return;
  try {
    nvml_ = std::make_unique<const Nvml>(bus_address, library);
  } catch (const std::runtime_error&) {
    return;  // a trial is valid without this figure
  }
  for (const auto& sample : nvml_->samples_after(0)) last_seen_ = std::max<std::uint64_t>(last_seen_, sample.time_us);
  if (last_seen_ == 0) nvml_.reset();  // `end` could not tell older samples from newer ones
}

GpuWatch::~GpuWatch() = default;

GpuUsage GpuWatch::end() const {
  const auto samples = nvml_ ? nvml_->samples_after(last_seen_) : std::vector<Nvml::Sample>{};
  if (samples.empty()) return {};
  double percent = 0;
  for (const auto& sample : samples) percent += sample.value.number;
  return {percent / 100 / static_cast<double>(samples.size()), static_cast<std::int64_t>(samples.size())};
}

}  // namespace paretopipe::host
