#pragma once
#include <paretopipe/experiment/compute_mode.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/host/host_context.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::predict {

/// The largest model of which every run of blocks is profiled: 2080 of them.
inline constexpr int kMostProfiledBlocks = 64;
/// The largest model that is profiled at all.
inline constexpr int kMostBlocks = 1000;

/// The ends of the runs to profile among those that begin with block `begin`, ascending. In a model of up to
/// kMostProfiledBlocks these are all. In a longer one they are all for the first block, and for any other one the block
/// itself, the whole rest, and up to two more that are drawn (LongModel estimates the others).
std::vector<int> profiled_ends(int blocks, int begin);

/// Consecutive blocks that a device computed several times.
struct ProfiledRun {
  int begin = 0;
  int end = 0;                                 ///< not included
  std::vector<std::int64_t> compute_ns{};      ///< raw samples, in their order; at least one
  std::optional<std::int64_t> memory_bytes{};  ///< that a stage of these blocks needs; absent if it was not counted

  double median_ns() const;

  bool operator==(const ProfiledRun&) const = default;
};

/// The indices of runs that took over 5 % longer than one that contains them. Something else had the device then,
/// because fewer blocks do not take longer.
std::vector<std::size_t> disturbed_runs(const std::vector<ProfiledRun>& runs);

/// How a device encoded and decoded what crosses a cut, several times.
struct ProfiledCodec {
  std::string codec;  ///< canonical, never "none"
  int cut = 0;        ///< blocks before it; 0: the model's input
  std::int64_t payload_bytes = 0;
  std::vector<std::int64_t> encode_ns{};  ///< raw samples, in their order; at least one
  std::vector<std::int64_t> decode_ns{};

  bool operator==(const ProfiledCodec&) const = default;
};

struct ProfiledDevice {
  std::string name;
  host::HostContext host;
  std::string cpus;                     ///< of its stage
  nlohmann::json compute;               ///< the settings that the stage applied
  std::string profile{};                ///< the device profile that it was emulated with; empty: not emulated
  std::optional<double> cpu_quota{};    ///< CPU time in CPUs that the profile allows; absent: all there is
  std::vector<ProfiledRun> runs{};      ///< those of profiled_ends(), by their begin and then by their end
  std::vector<ProfiledCodec> codecs{};  ///< each at every cut, 0 … N, in their order; empty: none was asked for

  /// Null if it is not there.
  const ProfiledRun* run(int begin, int end) const;
  const ProfiledCodec* codec(const std::string& wanted, int cut) const;

  /// True if it was profiled with as many threads. A synthetic stage has one, whatever is asked for.
  bool has_threads(int threads) const;

  bool operator==(const ProfiledDevice&) const = default;
};

/// What a probe measured from one device of a profile to another.
struct ProfiledLink {
  int from = 0;
  int to = 0;
  std::int64_t round_trip_ns = 0;
  double rate_bit_per_s = 0;

  bool operator==(const ProfiledLink&) const = default;
};

/// The measurements to predict from: of a model in one mode and batch, on one or more devices.
struct Profile {
  std::string made_at;               ///< UTC
  std::string release;               ///< of the driver
  std::string stage_program_sha256;  ///< of this machine
  experiment::ModelDescription model;
  experiment::ComputeMode mode{};
  int num_classes = 10;
  std::uint64_t seed = 1;
  std::string weights_sha256{};  ///< empty: weights made from the seed
  std::vector<ProfiledDevice> devices{};
  std::vector<ProfiledLink> links{};  ///< from each device to the next

  /// The codecs that all devices were profiled with, "none" first.
  std::vector<std::string> codecs() const;

  bool operator==(const Profile&) const = default;
};

void to_json(nlohmann::json& json, const Profile& profile);
/// Throws UsageError for what paretopipe cannot have written: another schema, a missing or unknown value, a run that is
/// missing or has no sample.
void from_json(const nlohmann::json& json, Profile& profile);

/// Throws UsageError that names the file.
Profile load_profile(const std::filesystem::path& file);

/// Why two profiles are of different things, so that nothing can be predicted from both: a clause such as "their
/// batches are 1 and 8". Empty if they go together.
std::string difference(const Profile& one, const Profile& other);

}  // namespace paretopipe::predict
