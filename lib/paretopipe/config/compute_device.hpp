#pragma once
#include <string>
#include <vector>

namespace paretopipe::config {

/// What computes a stage's blocks where nothing else is asked for.
inline constexpr const char* kCpu = "cpu";

/// "cpu", "cuda" (the first GPU) or "cuda:1", as LibTorch names them; returns it with its number. Throws UsageError.
std::string parse_compute_device(const std::string& text);

/// One for each of `stages` of a list that names one for all or one for each; empty where all are the CPU, so that
/// nothing differs from an experiment that names none. Throws UsageError for a list of another length.
std::vector<std::string> compute_devices(const std::vector<std::string>& names, int stages);

/// The stage's, of such a list.
std::string compute_device_of(const std::vector<std::string>& devices, int stage);

}  // namespace paretopipe::config
