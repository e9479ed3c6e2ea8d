// A stand-in for NVIDIA's management library, with the functions and the layout that nvml.h declares: one GPU at
// 0000:3b:00.0, whose driver takes a sample whenever it is asked (at 10, 20, ... microseconds), with 0, 25, 50, 75, 100
// % in turn.
#include <atomic>
#include <cstring>

namespace {

struct Sample {
  unsigned long long time_us;
  union {
    double real;
    unsigned int number;
    unsigned long long large_number;
  } value;
};

constexpr int kSuccess = 0;
constexpr int kUninitialised = 1;
constexpr int kNotFound = 6;
constexpr int kTooSmall = 7;
constexpr unsigned int kBuffer = 100;

int initialised = 0;
unsigned int asked = 0;
int the_gpu = 0;

}  // namespace

extern "C" {

int nvmlInit_v2() {
  ++initialised;
  return kSuccess;
}

int nvmlShutdown() {
  return initialised-- > 0 ? kSuccess : kUninitialised;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  if (initialised == 0) return kUninitialised;
  if (std::strcmp(address, "0000:3b:00.0") != 0) return kNotFound;
  *device = &the_gpu;
  return kSuccess;
}

int nvmlDeviceGetSamples(void* device, int type, unsigned long long last_seen, int* value_type, unsigned int* count,
                         void* samples) {
  if (initialised == 0) return kUninitialised;
  if (device != &the_gpu || type != 1) return kNotFound;
  *value_type = 1;
  if (samples == nullptr) {
    *count = kBuffer;
    ++asked;
    return kSuccess;
  }
  unsigned int found = 0;
  for (unsigned int i = 1; i <= asked; ++i) {
    if (i * 10 <= last_seen) continue;
    if (found == *count) return kTooSmall;
    auto& sample = static_cast<Sample*>(samples)[found++];
    sample.time_us = i * 10;
    sample.value.large_number = ~0ULL;  // what is not asked for is anything
    sample.value.number = (i - 1) % 5 * 25;
  }
  *count = found;
  return found == 0 ? kNotFound : kSuccess;
}
}
