#pragma once
#include <paretopipe/stage/backend.hpp>

#include <string>

#include <c10/core/Device.h>

// The device that a stage computes on, and copies to and from it. Blocks are made in host memory, and links carry host
// memory; a GPU has its own copies.
namespace paretopipe::compute {

/// Finds "cpu" or "cuda:0". Throws EnvironmentError that says what is missing if LibTorch or the machine has no such
/// device.
at::Device find_device(const std::string& name);

/// The device that this process computes on: "cpu" until configure_runtime() selects another one, which must happen
/// before any block is loaded.
at::Device device();
void set_device(at::Device device);

/// The PCI address of a GPU, "0000:3b:00.0". Empty for the CPU, and if the CUDA runtime does not tell.
std::string bus_address(at::Device device);

/// Waits until everything begun on the device is done.
void finish(at::Device device);

/// Copies the activation to the memory of the device, or of the host; returns it unchanged if it is already there.
/// Returns when the copy is complete. A GPU may compute meanwhile.
stage::Activation to_device(stage::Activation activation, at::Device device);
stage::Activation to_host(stage::Activation activation);

}  // namespace paretopipe::compute
