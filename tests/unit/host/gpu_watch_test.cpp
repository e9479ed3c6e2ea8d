// Against a stand-in for the driver's library (tests/fakes/fake_nvml.cpp); on a machine with a GPU, nothing else
// differs.
#include <paretopipe/host/gpu_watch.hpp>

#include <support/catch.hpp>

using paretopipe::host::GpuUsage;
using paretopipe::host::GpuWatch;

namespace {

const char* const kLibrary = PARETOPIPE_BIN_DIR "/libfake-nvml.so";
const char* const kGpu = "0000:3b:00.0";

}  // namespace

TEST_CASE("a GPU's utilisation is the mean of the samples that its driver took meanwhile, and no earlier ones") {
  const GpuWatch watch(kGpu, kLibrary);      // the driver has one sample now, of 0 %
  CHECK(watch.end() == GpuUsage{0.25, 1});   // and then one of 25 %
  CHECK(watch.end() == GpuUsage{0.375, 2});  // 50 %
  CHECK(watch.end() == GpuUsage{0.5, 3});    // 75 %
  const GpuWatch later(kGpu, kLibrary);      // 100 %
  CHECK(later.end() == GpuUsage{0, 1});      // 0 %
}

TEST_CASE("of two spans, the one with more samples counts for more, and one without any for nothing") {
  CHECK(GpuUsage{1, 3} + GpuUsage{0.5, 1} == GpuUsage{0.875, 4});
  CHECK(GpuUsage{0.5, 2} + GpuUsage{} == GpuUsage{0.5, 2});
  CHECK(GpuUsage{} + GpuUsage{} == GpuUsage{});
}

TEST_CASE("without a GPU, without its driver's library, or with another library in its place, nothing is said") {
  CHECK(GpuWatch("", kLibrary).end() == GpuUsage{});
  CHECK(GpuWatch("0000:ff:00.0", kLibrary).end() == GpuUsage{});
  CHECK(GpuWatch(kGpu, "libno-such-library.so").end() == GpuUsage{});
  CHECK(GpuWatch(kGpu, "libc.so.6").end() == GpuUsage{});
}
