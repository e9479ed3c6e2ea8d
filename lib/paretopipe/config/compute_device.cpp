#include <paretopipe/config/compute_device.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace paretopipe::config {
namespace {

constexpr std::string_view kCuda = "cuda";
constexpr int kMostGpus = 127;  // LibTorch counts them in eight bits

}  // namespace

std::string parse_compute_device(const std::string& text) {
  if (text == kCpu) return text;
  if (text == kCuda) return "cuda:0";
  const auto digits = text.starts_with("cuda:") ? text.substr(kCuda.size() + 1) : "";
  const bool plain = !digits.empty() && digits.size() <= 3 &&
                     std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (plain && std::stoi(digits) <= kMostGpus) return fmt::format("cuda:{}", std::stoi(digits));
  throw UsageError(
      fmt::format("\"{}\" is no device; it must be cpu, cuda, or a GPU by its number such as cuda:1", text));
}

std::vector<std::string> compute_devices(const std::vector<std::string>& names, int stages) {
  const auto count = static_cast<std::size_t>(stages);
  if (names.size() > 1 && names.size() != count) {
    throw UsageError(fmt::format("{} devices are named; it must be one for all stages, or one for each of the {}",
                                 names.size(), stages));
  }
  std::vector<std::string> devices;
  for (const auto& name : names) devices.push_back(parse_compute_device(name));
  if (devices.size() == 1) devices.resize(count, devices.front());
  const bool only_cpu = std::all_of(devices.begin(), devices.end(), [](const auto& device) { return device == kCpu; });
  return only_cpu ? std::vector<std::string>{} : devices;
}

std::string compute_device_of(const std::vector<std::string>& devices, int stage) {
  return devices.empty() ? kCpu : devices.at(static_cast<std::size_t>(stage));
}

}  // namespace paretopipe::config
