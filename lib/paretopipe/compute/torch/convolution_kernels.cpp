#include "convolution_kernels.hpp"

#include <paretopipe/core/file_descriptor.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ATen/Context.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>

namespace paretopipe::compute {

namespace {

/// dnnl_status_t dnnl_set_verbose(int). LibTorch contains oneDNN or loads it, but its headers need not be there.
using SetVerbose = int (*)(int);

/// Collects what the process writes to stdout, until `take`. oneDNN's log goes there.
class StdoutInMemory {
 public:
  StdoutInMemory()
      : memory_(::memfd_create("stdout", MFD_CLOEXEC)), original_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
    std::fflush(stdout);
    if (works()) ::dup2(memory_.get(), STDOUT_FILENO);
  }
  StdoutInMemory(const StdoutInMemory&) = delete;
  StdoutInMemory& operator=(const StdoutInMemory&) = delete;
  ~StdoutInMemory() { restore(); }

  bool works() const { return memory_.get() >= 0 && original_.get() >= 0; }

  std::string take() {
    restore();
    std::string text;
    std::array<char, 4096> part{};
    for (;;) {
      const auto length = ::pread(memory_.get(), part.data(), part.size(), static_cast<::off_t>(text.size()));
      if (length <= 0) return text;
      text.append(part.data(), static_cast<std::size_t>(length));
    }
  }

 private:
  void restore() {
    std::fflush(stdout);
    if (works()) ::dup2(original_.get(), STDOUT_FILENO);
  }

  FileDescriptor memory_;
  FileDescriptor original_;
};

/// Computes convolutions in oneDNN's own layouts, as an optimized graph does.
void convolve() {
  constexpr int kChannels = 32;
  constexpr int kPixels = 14;
  struct Kind {
    int pixels;
    int groups;
  };
  const c10::InferenceMode inference;
  const auto image = at::ones({1, kChannels, kPixels, kPixels}).to_mkldnn();
  for (const auto& kind : {Kind{1, 1}, Kind{3, 1}, Kind{3, kChannels}}) {
    const auto weight = at::ones({kChannels, kChannels / kind.groups, kind.pixels, kind.pixels}).to_mkldnn();
    at::conv2d(image, weight, {}, 1, kind.pixels / 2, 1, kind.groups);
  }
}

std::optional<std::vector<std::string>> find_kernels() {
  if (!at::hasMKLDNN()) return std::nullopt;
  const auto set_verbose = reinterpret_cast<SetVerbose>(::dlsym(RTLD_DEFAULT, "dnnl_set_verbose"));
  if (set_verbose == nullptr) return std::nullopt;
  StdoutInMemory log;
  if (!log.works()) return std::nullopt;
  const char* wanted = std::getenv("DNNL_VERBOSE");  // by whoever started the process
  set_verbose(1);
  convolve();
  set_verbose(wanted == nullptr ? 0 : std::atoi(wanted));
  auto kernels = kernels_in_log(log.take());
  if (kernels.empty()) return std::nullopt;
  return kernels;
}

}  // namespace

std::vector<std::string> kernels_in_log(const std::string& log) {
  std::vector<std::string> kernels;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    // dnnl_verbose,exec,cpu,convolution,KERNEL,… ; later releases put more before "exec"
    constexpr std::string_view kBefore = ",exec,cpu,convolution,";
    const auto at = line.find(kBefore);
    if (at == line.npos) continue;
    const auto begin = at + kBefore.size();
    auto kernel = line.substr(begin, line.find(',', begin) - begin);
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::optional<std::vector<std::string>> convolution_kernels() {
  static const auto kernels = find_kernels();
  return kernels;
}

}  // namespace paretopipe::compute
