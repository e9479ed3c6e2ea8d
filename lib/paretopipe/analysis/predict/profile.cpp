#include <paretopipe/analysis/predict/profile.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/experiment/json_file.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::predict {

namespace {

constexpr int kSchema = 1;

}  // namespace

std::vector<int> profiled_ends(int blocks, int begin) {
  std::set<int> ends;
  if (blocks <= kMostProfiledBlocks || begin == 0) {
    for (int end = begin + 1; end <= blocks; ++end) ends.insert(end);
  } else {
    std::mt19937_64 random(static_cast<std::uint64_t>(begin));
    ends = {begin + 1, blocks};
    for (int i = 0; i < 2; ++i) {
      ends.insert(begin + 1 + static_cast<int>(draw_below(random, static_cast<std::uint64_t>(blocks - begin))));
    }
  }
  return {ends.begin(), ends.end()};
}

const ProfiledRun* ProfiledDevice::run(int begin, int end) const {
  const auto before = [](const ProfiledRun& run, std::pair<int, int> wanted) {
    return std::pair(run.begin, run.end) < wanted;
  };
  const auto found = std::lower_bound(runs.begin(), runs.end(), std::pair(begin, end), before);
  return found == runs.end() || found->begin != begin || found->end != end ? nullptr : &*found;
}

void to_json(nlohmann::json& json, const ProfiledRun& run) {
  json = {{"begin", run.begin}, {"end", run.end}, {"compute_ns", run.compute_ns}};
  write_optional(json, "memory_bytes", run.memory_bytes);
}

void from_json(const nlohmann::json& json, ProfiledRun& run) {
  json.at("begin").get_to(run.begin);
  json.at("end").get_to(run.end);
  json.at("compute_ns").get_to(run.compute_ns);
  read_optional(json, "memory_bytes", run.memory_bytes);
}

void to_json(nlohmann::json& json, const ProfiledDevice& device) {
  json = {{"name", device.name}, {"host", device.host}, {"cpus", device.cpus}, {"compute", device.compute}};
  if (!device.profile.empty()) json["device_profile"] = device.profile;
  write_optional(json, "cpu_quota", device.cpu_quota);
  json["runs"] = device.runs;
}

void from_json(const nlohmann::json& json, ProfiledDevice& device) {
  json.at("name").get_to(device.name);
  json.at("host").get_to(device.host);
  json.at("cpus").get_to(device.cpus);
  device.compute = json.at("compute");
  device.profile = json.value("device_profile", "");
  read_optional(json, "cpu_quota", device.cpu_quota);
  json.at("runs").get_to(device.runs);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProfiledLink, from, to, round_trip_ns, rate_bit_per_s)

void to_json(nlohmann::json& json, const Profile& profile) {
  json = {{"schema", kSchema},          {"made_at", profile.made_at},
          {"release", profile.release}, {"stage_program_sha256", profile.stage_program_sha256},
          {"model", profile.model},     {"num_classes", profile.num_classes},
          {"seed", profile.seed},       {"weights_sha256", profile.weights_sha256},
          {"devices", profile.devices}, {"links", profile.links}};
  experiment::write_compute_mode(json, profile.mode);
}

namespace {

void read(const nlohmann::json& json, Profile& profile) {
  json.at("made_at").get_to(profile.made_at);
  json.at("release").get_to(profile.release);
  json.at("stage_program_sha256").get_to(profile.stage_program_sha256);
  json.at("model").get_to(profile.model);
  json.at("num_classes").get_to(profile.num_classes);
  json.at("seed").get_to(profile.seed);
  json.at("weights_sha256").get_to(profile.weights_sha256);
  json.at("devices").get_to(profile.devices);
  json.at("links").get_to(profile.links);
  profile.mode = experiment::read_compute_mode(json);
}

/// Times that a device can take, at least one.
void check_times(const ProfiledDevice& device, const ProfiledRun& run) {
  const auto [least, most] = std::minmax_element(run.compute_ns.begin(), run.compute_ns.end());
  constexpr std::int64_t kDay = 86'400'000'000'000;
  if (*least >= 0 && *most <= kDay) return;
  throw UsageError(
      fmt::format("profile.devices: {} has times for the blocks {} to {} that no device can take: "
                  "from {} to {} ns",
                  device.name, run.begin, run.end - 1, *least, *most));
}

/// Every run that is due must be there once, in order.
void check_runs(const ProfiledDevice& device, int blocks) {
  auto run = device.runs.begin();
  for (int begin = 0; begin < blocks; ++begin) {
    for (const int end : profiled_ends(blocks, begin)) {
      if (run == device.runs.end() || run->begin != begin || run->end != end || run->compute_ns.empty()) {
        throw UsageError(fmt::format("profile.devices: {} has no time for the blocks {} to {}; profile it again",
                                     device.name, begin, end - 1));
      }
      check_times(device, *run);
      ++run;
    }
  }
  if (run != device.runs.end()) {
    throw UsageError(fmt::format(
        "profile.devices: {} has times for more runs than are profiled of a model of {} blocks", device.name, blocks));
  }
}

void check(const Profile& profile) {
  const int blocks = profile.model.block_count();
  if (blocks < 1 || blocks > kMostBlocks || profile.devices.empty() || profile.model.batch < 1) {
    throw UsageError(
        fmt::format("profile holds {} devices and a model of {} blocks at batch {}; it must hold one "
                    "device at least, and 1 to {} blocks",
                    profile.devices.size(), blocks, profile.model.batch, kMostBlocks));
  }
  for (const auto& device : profile.devices) check_runs(device, blocks);
  const auto exists = [&](int device) { return device >= 0 && device < static_cast<int>(profile.devices.size()); };
  for (const auto& link : profile.links) {
    if (exists(link.from) && exists(link.to) && link.round_trip_ns >= 0 && link.rate_bit_per_s > 0) continue;
    throw UsageError(fmt::format("profile.links holds one from device {} to device {} at {} bit/s, which cannot be",
                                 link.from, link.to, link.rate_bit_per_s));
  }
}

}  // namespace

void from_json(const nlohmann::json& json, Profile& profile) {
  check_schema(json, kSchema, "profile");
  try {
    read(json, profile);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("profile is damaged ({}); make it again with `paretopipe profile`", reason_of(error)));
  }
  check_understood(json, profile, "profile");
  check(profile);
}

Profile load_profile(const std::filesystem::path& file) {
  const auto json = experiment::read_json_file(file, "profile");
  return experiment::naming_file(file, [&] { return json.get<Profile>(); });
}

std::string difference(const Profile& one, const Profile& other) {
  if (one.model.model != other.model.model) {
    return fmt::format("their models are {} and {}", one.model.model, other.model.model);
  }
  if (one.model.batch != other.model.batch) {
    return fmt::format("their batches are {} and {}", one.model.batch, other.model.batch);
  }
  if (one.mode != other.mode) {
    const auto text = [](const auto& mode) { return mode == experiment::ComputeMode{} ? "eager" : describe(mode); };
    return fmt::format("their modes are {} and {}", text(one.mode), text(other.mode));
  }
  if (one.model != other.model || one.num_classes != other.num_classes) {
    return "their models have the same name and other blocks";
  }
  if (one.seed != other.seed || one.weights_sha256 != other.weights_sha256) return "their models have other weights";
  return "";
}

}  // namespace paretopipe::predict
