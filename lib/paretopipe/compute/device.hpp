#pragma once
#include <paretopipe/stage/backend.hpp>

#include <string>

#include <c10/core/Device.h>

// What a stage computes on, and the way there and back. Blocks are made in the host's memory, and so is what a link
// carries; a GPU has copies of its own.
namespace paretopipe::compute {

/// "cpu" or "cuda:0". Throws EnvironmentError that says what is missing, where LibTorch or the machine has no such one.
at::Device find_device(const std::string& name);

/// What this process computes on: "cpu" until configure_runtime() is asked for something else, which must be before any
/// block is loaded.
at::Device device();
void set_device(at::Device device);

/// Where a GPU is, "0000:3b:00.0"; empty for the CPU, and where the CUDA runtime does not say.
std::string bus_address(at::Device device);

/// Returns when everything that was begun on the device is done.
void finish(at::Device device);

/// The activation in the memory of the device, or of the host; itself where it is there already. Returns when the copy
/// is made, which may go on beside what a GPU computes.
stage::Activation to_device(stage::Activation activation, at::Device device);
stage::Activation to_host(stage::Activation activation);

}  // namespace paretopipe::compute
