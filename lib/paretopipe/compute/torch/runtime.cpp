#include "runtime.hpp"

#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include <malloc.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/Version.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Allocator.h>
#include <c10/core/InferenceMode.h>
#include <torch/version.h>

#include "convolution_kernels.hpp"
#include "device.hpp"

// In LibTorch 2, allocate() is not const and allocators also copy.
#if TORCH_VERSION_MAJOR < 2
#define PARETOPIPE_ALLOCATES const
#else
#define PARETOPIPE_ALLOCATES
#endif

namespace paretopipe::compute {

namespace {

void set_threads(int threads) {
  if (threads < 1) throw UsageError(fmt::format("a stage cannot compute with {} threads; ask for 1 or more", threads));
  at::set_num_threads(threads);
  // LibTorch accepts this once in a process.
  static const bool interop_set = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(interop_set);
}

/// True if this thread flushes denormals, found by computing rather than by reading the flag.
bool flushes_denormals() {
  volatile float smallest_normal = std::numeric_limits<float>::min();
  return smallest_normal * 0.5F == 0.0F;
}

/// The flag belongs to a thread, so it is set on each of LibTorch's workers. A TensorIterator with one element per
/// thread and a grain of 1 visits them all. at::parallel_for in our own code would need the OpenMP runtime that
/// LibTorch was linked with, and downloaded LibTorchs bring their own. Returns whether all threads flush afterwards.
bool set_flush_denormals(bool flush) {
  const c10::InferenceMode inference;
  auto flushed = at::zeros({at::get_num_threads()}, at::kFloat);
  auto iterator = at::TensorIterator::borrowing_nullary_op(flushed);
  iterator.for_each(
      [flush](char** data, const std::int64_t* strides, std::int64_t count) {
        at::globalContext().setFlushDenormal(flush);
        for (std::int64_t i = 0; i < count; ++i) {
          *reinterpret_cast<float*>(data[0] + i * strides[0]) = flushes_denormals() ? 1.0F : 0.0F;
        }
      },
      /*grain_size=*/1);
  const auto* results = flushed.data_ptr<float>();
  return std::all_of(results, results + flushed.numel(), [](float result) { return result == 1.0F; });
}

/// Activations are freed and allocated again in every batch. By default glibc returns large ones to the kernel, and the
/// page faults cost up to a quarter of the time. Only one arena is used, because the others end at 64 MiB and ignore
/// the thresholds. See mallopt(3).
bool tune_malloc(bool tune) {
  static bool tuned = false;
  if (tune && !tuned) {
    tuned = mallopt(M_ARENA_MAX, 1) == 1 && mallopt(M_MMAP_THRESHOLD, 1 << 30) == 1 &&
            mallopt(M_TRIM_THRESHOLD, INT_MAX) == 1 && mallopt(M_TOP_PAD, 64 << 20) == 1;
  }
  return tuned;
}

void choose_device(const std::string& name) {
  set_device(find_device(name));
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setAllowTF32CuBLAS(false);
}

/// The BLAS libraries that the dynamic linker chose. The reference implementation is 50 times slower than OpenBLAS, and
/// nothing else shows which one is used.
std::set<std::string> mapped_blas_libraries() {
  constexpr std::array<std::string_view, 5> kNames{"blas", "mkl_", "blis", "armpl", "nvpl"};
  std::set<std::string> paths;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.substr(std::min(line.find('/'), line.size()));
    const auto file = path.substr(path.rfind('/') + 1);
    const bool is_blas = std::ranges::any_of(kNames, [&](auto name) { return file.find(name) != file.npos; });
    if (is_blas && file.find(".so") != file.npos) paths.insert(path);
  }
  return paths;
}

/// Reads the capability from LibTorch's build summary; the function that returns it directly is not public in every
/// release.
nlohmann::json cpu_capability() {
  constexpr std::string_view kEntry = "CPU capability usage: ";
  const auto summary = at::show_config();
  const auto entry = summary.find(kEntry);
  if (entry == summary.npos) return nullptr;
  const auto value = entry + kEntry.size();
  return summary.substr(value, summary.find('\n', value) - value);
}

nlohmann::json environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? nlohmann::json() : nlohmann::json(value);
}

nlohmann::json kernels_or_null() {
  const auto kernels = convolution_kernels();
  return kernels ? nlohmann::json(*kernels) : nlohmann::json();
}

}  // namespace

nlohmann::json configure_runtime(const stage::ComputeOptions& options) {
  count_tensors();
  choose_device(options.device);
  const bool tuned = tune_malloc(options.tune_malloc);
  set_threads(options.threads);
  const bool flushing = set_flush_denormals(options.flush_denormals);
  return {{"backend", "libtorch"},
          {"torch_version", TORCH_VERSION},
          {"blas", mapped_blas_libraries()},
          {"cpu_capability", cpu_capability()},
          {"mkl", at::hasMKL()},
          {"mkldnn", at::hasMKLDNN() && at::globalContext().userEnabledMkldnn()},
          {"convolution_kernels", kernels_or_null()},
          {"device", device().str()},
          {"threads", at::get_num_threads()},
          {"interop_threads", at::get_num_interop_threads()},
          {"flush_denormals", flushing},
          {"tune_malloc", tuned},
          {"omp_wait_policy", environment("OMP_WAIT_POLICY")},
          {"glibc_tunables", environment("GLIBC_TUNABLES")}};
}

namespace {

constexpr std::size_t kGrain = 64;

/// LibTorch's own allocator, which does the work.
c10::Allocator*& original() {
  static c10::Allocator* allocator = nullptr;
  return allocator;
}

/// The bytes that a tensor counts for: its size, rounded up to whole grains. They are derived from malloc's usable
/// size, which may be a few bytes more than was asked for. So no tensor has to store its size, and tensors that
/// LibTorch allocated before the counting began do no harm.
std::int64_t grains_of(void* memory) {
  return static_cast<std::int64_t>(malloc_usable_size(memory) / kGrain * kGrain);
}

void delete_counted(void* memory) {
  stage::tensor_bytes().remove(grains_of(memory));
  original()->raw_deallocate(memory);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) PARETOPIPE_ALLOCATES override {
    if (bytes == 0) return original()->allocate(0);
    // The 8 to 40 bytes that malloc may add must not make another grain, so that equal sizes always count the same.
    auto* memory = original()->raw_allocate((bytes + kGrain - 1) / kGrain * kGrain + kGrain / 4);
    stage::tensor_bytes().add(grains_of(memory));
    return {memory, memory, &delete_counted, c10::Device(c10::DeviceType::CPU)};
  }

  /// LibTorch's oneDNN tensors need an allocator whose context is the memory itself.
  c10::DeleterFnPtr raw_deleter() const override { return &delete_counted; }

#if TORCH_VERSION_MAJOR >= 2
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
#endif
};

}  // namespace

void count_tensors() {
  static CountingAllocator allocator;
  if (original() != nullptr) return;
  original() = c10::GetAllocator(c10::DeviceType::CPU);
  c10::SetAllocator(c10::DeviceType::CPU, &allocator);
}

}  // namespace paretopipe::compute
