#include <paretopipe/analysis/predict/profile.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/experiment/json_file.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::predict {

namespace {

constexpr int kSchema = 1;
/// How much longer a run may take than one that contains it, because a median still has some noise.
constexpr double kNoise = 0.05;

}  // namespace

double ProfiledRun::median_ns() const {
  return stats::median({compute_ns.begin(), compute_ns.end()}).value();
}

std::vector<std::size_t> disturbed_runs(const std::vector<ProfiledRun>& runs) {
  std::vector<double> medians;
  for (const auto& run : runs) medians.push_back(run.median_ns());
  std::vector<std::size_t> disturbed;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t j = 0; j < runs.size(); ++j) {
      const bool contains = runs[j].begin <= runs[i].begin && runs[j].end >= runs[i].end;
      if (!contains || medians[i] <= (1 + kNoise) * medians[j]) continue;
      disturbed.push_back(i);
      break;
    }
  }
  return disturbed;
}

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

const ProfiledCodec* ProfiledDevice::codec(const std::string& wanted, int cut) const {
  const auto is_wanted = [&](const ProfiledCodec& one) { return one.codec == wanted && one.cut == cut; };
  const auto found = std::find_if(codecs.begin(), codecs.end(), is_wanted);
  return found == codecs.end() ? nullptr : &*found;
}

bool ProfiledDevice::has_threads(int threads) const {
  if (!compute.is_object()) return false;  // unknown
  return compute.value("library", "") == "synthetic" || compute.value("threads", 0) == threads;
}

std::vector<std::string> Profile::codecs() const {
  std::vector<std::string> names{codec::kNone};
  for (const auto& first : devices.front().codecs) {
    const auto knows = [&](const ProfiledDevice& device) { return device.codec(first.codec, 0) != nullptr; };
    if (first.cut == 0 && std::all_of(devices.begin(), devices.end(), knows)) names.push_back(first.codec);
  }
  return names;
}

PARETOPIPE_JSON(ProfiledRun, begin, end, compute_ns, memory_bytes)
PARETOPIPE_JSON(ProfiledCodec, codec, cut, payload_bytes, encode_ns, decode_ns)

namespace {

const std::tuple kDeviceFields{field("name", &ProfiledDevice::name),
                               field("host", &ProfiledDevice::host),
                               field("cpus", &ProfiledDevice::cpus),
                               field("compute", &ProfiledDevice::compute),
                               field("cpu_quota", &ProfiledDevice::cpu_quota),
                               field("runs", &ProfiledDevice::runs),
                               field("device_profile", &ProfiledDevice::profile, ""),
                               field("codecs", &ProfiledDevice::codecs, std::vector<ProfiledCodec>{})};

}  // namespace

void to_json(nlohmann::json& json, const ProfiledDevice& device) {
  write_fields(json, device, kDeviceFields);
}

void from_json(const nlohmann::json& json, ProfiledDevice& device) {
  read_fields(json, device, kDeviceFields);
}

PARETOPIPE_JSON(ProfiledLink, from, to, round_trip_ns, rate_bit_per_s)

namespace {

const std::tuple kProfileFields{field("made_at", &Profile::made_at),
                                field("release", &Profile::release),
                                field("stage_program_sha256", &Profile::stage_program_sha256),
                                field("model", &Profile::model),
                                field("num_classes", &Profile::num_classes),
                                field("seed", &Profile::seed),
                                field("weights_sha256", &Profile::weights_sha256),
                                field("devices", &Profile::devices),
                                field("links", &Profile::links)};

}  // namespace

void to_json(nlohmann::json& json, const Profile& profile) {
  write_fields(json, profile, kProfileFields);
  json["schema"] = kSchema;
  experiment::write_compute_mode(json, profile.mode);
}

namespace {

/// Times that a device can take, at least one.
void check_times(const ProfiledDevice& device, const std::string& what, const std::vector<std::int64_t>& times_ns) {
  const auto [least, most] = std::minmax_element(times_ns.begin(), times_ns.end());
  constexpr std::int64_t kDay = 86'400'000'000'000;
  if (*least >= 0 && *most <= kDay) return;
  throw UsageError(fmt::format("profile.devices: {} has times for {} that no device can take: from {} to {} ns",
                               device.name, what, *least, *most));
}

/// A codec must be there for every cut, once, in order.
void check_codecs(const ProfiledDevice& device, const experiment::ModelDescription& model) {
  int due = 0;
  std::string current;
  std::set<std::string> seen;
  for (const auto& one : device.codecs) {
    if (one.cut == 0) current = one.codec;
    const bool in_turn = one.cut == due && one.codec == current && (one.cut > 0 || seen.insert(current).second);
    const bool known = experiment::canonical_codec(one.codec) == one.codec && codec::parse(one.codec).encodes();
    // A codec's few extra bytes are more than it saves only if next to nothing crosses.
    const auto most_bytes = 2 * model.bytes_at(std::clamp(one.cut, 0, model.block_count())) + (1 << 20);
    if (!known || !in_turn || one.encode_ns.empty() || one.decode_ns.empty() || one.payload_bytes < 0 ||
        one.payload_bytes > most_bytes) {
      throw UsageError(fmt::format("profile.devices: what {} says of {} at cut {} cannot be; profile it again",
                                   device.name, one.codec, one.cut));
    }
    for (const auto* times : {&one.encode_ns, &one.decode_ns}) check_times(device, one.codec, *times);
    due = one.cut == model.block_count() ? 0 : one.cut + 1;
  }
  if (due != 0) {
    throw UsageError(fmt::format("profile.devices: {} has no time for {} at cut {}; profile it again", device.name,
                                 device.codecs.back().codec, due));
  }
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
      check_times(device, fmt::format("the blocks {} to {}", begin, end - 1), run->compute_ns);
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
  for (const auto& device : profile.devices) {
    check_runs(device, blocks);
    check_codecs(device, profile.model);
  }
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
    read_fields(json, profile, kProfileFields);
    profile.mode = experiment::read_compute_mode(json);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("profile is damaged ({}); make it again with `paretopipe profile`", reason_of(error)));
  }
  check_understood(json, profile, "profile");
  check(profile);
}

Profile load_profile(const std::filesystem::path& file) {
  const auto json = experiment::read_json_file(file, "profile");
  return with_prefix(file.string() + ": ", [&] { return json.get<Profile>(); });
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
