#include <paretopipe/core/json.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/device_profile.hpp>
#include <paretopipe/experiment/json_file.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>

namespace paretopipe::experiment {

namespace {

/// Below these, the kernel refuses or nothing can run.
constexpr double kLeastQuota = 0.01;
constexpr std::int64_t kLeastMemoryBytes = std::int64_t{4} << 20;
constexpr int kMostThreads = 1024;

[[noreturn]] void refuse(const char* key, const std::string& value, const std::string& range) {
  throw UsageError(fmt::format("device profile.{} is {}; it must be {}", key, value, range));
}

/// Reads [0, 1], or "0-1" as in --cpus.
std::string read_cpus(const nlohmann::json& json) {
  std::string text;
  if (json.is_string()) text = json.get<std::string>();
  if (json.is_array()) {
    std::vector<std::string> numbers;
    for (const auto& item : json) numbers.push_back(item.dump());
    text = fmt::format("{}", fmt::join(numbers, ","));
  }
  try {
    return host::to_string(host::parse_cpu_list(text));
  } catch (const UsageError&) {
    refuse("cpus", json.dump(), "a list of CPU numbers such as [0, 1], or a CPU list such as \"0-3\"");
  }
}

std::int64_t read_memory(const nlohmann::json& json) {
  const std::string range = "an amount of at least 4 MiB, such as \"1 GiB\"";
  if (!json.is_string()) refuse("memory_limit", json.dump(), range);
  try {
    const auto bytes = parse_bytes(json.get<std::string>());
    if (bytes >= kLeastMemoryBytes) return bytes;
  } catch (const UsageError&) {  // reported below, with the key
  }
  refuse("memory_limit", json.dump(), range);
}

DeviceProfile profile_of_file(const nlohmann::json& json, const std::string& name) {
  if (name == kNoDeviceProfile) throw UsageError("a device profile cannot be called \"none\"; rename the file");
  return device_profile_from_json(json, name);
}

}  // namespace

std::string describe(const DeviceProfile& profile) {
  std::vector<std::string> parts;
  if (!profile.cpus.empty()) parts.push_back(fmt::format("on CPUs {}", profile.cpus));
  if (profile.cpu_quota)
    parts.push_back(fmt::format("{:g} CPU{}", *profile.cpu_quota, *profile.cpu_quota == 1 ? "" : "s"));
  if (profile.memory_limit_bytes) parts.push_back(format_bytes(static_cast<double>(*profile.memory_limit_bytes)));
  if (profile.threads) parts.push_back(fmt::format("{} thread{}", *profile.threads, *profile.threads == 1 ? "" : "s"));
  return parts.empty() ? profile.name : fmt::format("{} ({})", profile.name, fmt::join(parts, ", "));
}

DeviceProfile device_profile_from_json(const nlohmann::json& json, const std::string& name) {
  DeviceProfile profile;
  profile.name = name;
  ObjectReader reader(json, "device profile");
  std::string description;
  reader.read("description", description);
  if (const auto* cpus = reader.find("cpus")) profile.cpus = read_cpus(*cpus);
  if (reader.find("threads") != nullptr) {
    profile.threads = reader.require<int>("threads");
    if (*profile.threads < 1 || *profile.threads > kMostThreads) {
      refuse("threads", std::to_string(*profile.threads), fmt::format("from 1 to {}", kMostThreads));
    }
  }
  if (reader.find("cpu_quota") != nullptr) {
    profile.cpu_quota = reader.require<double>("cpu_quota");
    if (!(*profile.cpu_quota >= kLeastQuota && *profile.cpu_quota <= host::kMaxCpus)) {
      refuse("cpu_quota", fmt::format("{:g}", *profile.cpu_quota),
             fmt::format("a number of CPUs from {} to {}, such as 0.5", kLeastQuota, host::kMaxCpus));
    }
  }
  if (const auto* memory = reader.find("memory_limit")) profile.memory_limit_bytes = read_memory(*memory);
  reader.refuse_unknown_keys();
  return profile;
}

DeviceProfile load_device_profile(const std::string& name_or_file) {
  if (name_or_file == kNoDeviceProfile) return {};
  const auto* kind = "device profile";
  if (names_profile_file(name_or_file)) return load_profile_file(name_or_file, kind, profile_of_file);
  const auto json = shipped_profile(name_or_file, kind, shipped_device_files(), {kNoDeviceProfile});
  return device_profile_from_json(json, name_or_file);
}

std::vector<DeviceProfile> load_device_profiles(const std::vector<std::string>& names_or_files) {
  std::vector<DeviceProfile> profiles;
  for (const auto& name : names_or_files) profiles.push_back(load_device_profile(name));
  const bool any = std::any_of(profiles.begin(), profiles.end(), [](const auto& one) { return one.emulated(); });
  return any ? profiles : std::vector<DeviceProfile>{};
}

}  // namespace paretopipe::experiment
