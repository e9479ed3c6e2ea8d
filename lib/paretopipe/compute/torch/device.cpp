#include "device.hpp"

#include <paretopipe/core/error.hpp>

#include <array>
#include <utility>

#include <ATen/Context.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include "tensors.hpp"

namespace paretopipe::compute {

namespace {

at::Device& chosen() {
  static at::Device device(at::kCPU);
  return device;
}

int gpu_of(at::Device device) {
  return device.is_cpu() ? -1 : static_cast<int>(device.index());
}

stage::Activation moved(stage::Activation activation, at::Device device) {
  auto others = std::move(activation.others);
  activation.others.clear();
  if (activation.gpu != gpu_of(device)) {
    activation = to_activation(to_tensor(activation).to(device), activation.spec.memory_format);
  }
  for (auto& other : others) activation.others.push_back(moved(std::move(other), device));
  return activation;
}

}  // namespace

at::Device find_device(const std::string& name) {
  const at::Device device(name);
  if (device.is_cpu()) return device;
  const auto refuse = [&](const std::string& reason) -> EnvironmentError {
    return EnvironmentError(
        fmt::format("cannot compute on {}: {}. Use --device cpu, or a machine and a LibTorch with CUDA", name, reason));
  };
  if (!at::globalContext().hasCUDART()) throw refuse("this LibTorch was built without CUDA");
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (count == 0) throw refuse("LibTorch finds no GPU that it can use");
  if (device.index() >= count) throw refuse(fmt::format("LibTorch finds {} GPU(s), numbered from 0", count));
  return device;
}

at::Device device() {
  return chosen();
}

void set_device(at::Device device) {
  chosen() = device;
}

std::string bus_address(at::Device device) {
  if (device.is_cpu()) return {};
  // Looked up in the CUDA runtime that LibTorch has loaded, so that compiling this needs no CUDA.
  using GetAddress = int (*)(char* address, int length, int device);
  const auto get = reinterpret_cast<GetAddress>(::dlsym(RTLD_DEFAULT, "cudaDeviceGetPCIBusId"));
  std::array<char, 32> address{};
  if (get == nullptr || get(address.data(), static_cast<int>(address.size()), device.index()) != 0) return {};
  return address.data();
}

void finish(at::Device device) {
  if (!device.is_cpu()) torch::cuda::synchronize(device.index());
}

stage::Activation to_device(stage::Activation activation, at::Device device) {
  if (device.is_cpu()) return activation;
  // Copies on a separate stream, which does not wait for what the computing thread has begun. The memory is not pinned,
  // so the copy is complete when the call returns.
  const c10::impl::VirtualGuardImpl gpu(device.type());
  const c10::StreamGuard stream(gpu.getStreamFromGlobalPool(device));
  return moved(std::move(activation), device);
}

stage::Activation to_host(stage::Activation activation) {
  if (activation.gpu < 0) return activation;
  return moved(std::move(activation), at::kCPU);
}

}  // namespace paretopipe::compute
