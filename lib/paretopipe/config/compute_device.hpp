#pragma once
#include <string>
#include <vector>

namespace paretopipe::config {

/// The default device of a stage's blocks.
inline constexpr const char* kCpu = "cpu";

/// Parses "cpu", "cuda" (the first GPU) or "cuda:1", as LibTorch names them, and returns the name with its number.
/// Throws UsageError.
std::string parse_compute_device(const std::string& text);

/// Expands a list of one device for all stages, or one per stage, to `stages` devices. Returns an empty list if all are
/// the CPU, so that nothing differs from an experiment that names none. Throws UsageError for a list of another length.
std::vector<std::string> compute_devices(const std::vector<std::string>& names, int stages);

/// The stage's device in such a list.
std::string compute_device_of(const std::vector<std::string>& devices, int stage);

}  // namespace paretopipe::config
