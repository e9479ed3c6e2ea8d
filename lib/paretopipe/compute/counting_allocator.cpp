#include <paretopipe/compute/runtime.hpp>
#include <paretopipe/stage/tensor_bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <malloc.h>

#include <c10/core/Allocator.h>
#include <torch/version.h>

// In LibTorch 2, allocate() is not const and allocators also copy.
#if TORCH_VERSION_MAJOR < 2
#define PARETOPIPE_ALLOCATES const
#else
#define PARETOPIPE_ALLOCATES
#endif

namespace paretopipe::compute {
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
