// A device of the pipeline, from what was profiled of it.
#include <paretopipe/analysis/predict/long_model.hpp>
#include <paretopipe/analysis/predict/pipeline_model.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace paretopipe::predict {

namespace {

constexpr double kFastQuantile = 0.1;
constexpr double kSlowQuantile = 0.9;

/// Where a quota makes some rounds short and others long, only their mean is the speed of the device.
double usual_ns(const ProfiledDevice& device, const std::vector<double>& samples) {
  if (!device.cpu_quota) return *stats::median(samples);
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

}  // namespace

std::int64_t whole(double ns) {
  return std::clamp<std::int64_t>(std::llround(ns), 0, StageTimes::kLongestNs);
}

Band band_of(const ProfiledDevice& device, const std::vector<std::int64_t>& times_ns) {
  const std::vector<double> samples(times_ns.begin(), times_ns.end());
  const auto usual = usual_ns(device, samples);
  return {std::min(usual, *stats::quantile(samples, kFastQuantile)), usual,
          std::max(usual, *stats::quantile(samples, kSlowQuantile))};
}

std::optional<std::int64_t> memory_of(const ProfiledDevice& device, int begin, int end, int blocks) {
  if (const auto* run = device.run(begin, end)) return run->memory_bytes;
  const auto* first = device.run(0, end);
  const auto* last = device.run(begin, blocks);
  if (!first->memory_bytes || !last->memory_bytes) return std::nullopt;
  return std::min(*first->memory_bytes, *last->memory_bytes);
}

namespace {

/// Estimates the times of the runs that were not profiled.
void estimate_others(Candidate& candidate, int blocks) {
  const LongModel model(*candidate.device, blocks);
  candidate.estimated_within = model.held_out_error();
  for (int begin = 1; begin < blocks; ++begin) {
    for (int end = begin + 1; end < blocks; ++end) {
      if (candidate.device->run(begin, end) != nullptr) continue;
      const auto usual = model.estimate_ns(begin, end);
      candidate.usual.set(begin, end, whole(usual));
      candidate.fast.set(begin, end, whole(usual / (1 + candidate.estimated_within)));
      candidate.slow.set(begin, end, whole(usual * (1 + candidate.estimated_within)));
    }
  }
}

/// `limit`: the memory that a stage may need on this device.
void forbid_beyond(std::int64_t limit, Candidate& candidate, int blocks) {
  for (int begin = 0; begin < blocks; ++begin) {
    for (int end = begin + 1; end <= blocks; ++end) {
      const auto needed = memory_of(*candidate.device, begin, end, blocks);
      if (!needed) {
        throw UsageError(
            fmt::format("keep --memory: the profile of {} does not say how much its blocks need; profile it again",
                        candidate.device->name));
      }
      if (*needed > limit) candidate.usual.forbid(begin, end);
    }
  }
}

/// True if the device has a CPU beside those that its stages compute on.
bool has_cpu_to_spare(const ProfiledDevice& device) {
  if (device.cpus.empty()) return false;  // unknown
  const double threads = device.compute.is_object() ? device.compute.value("threads", 1) : 1;
  return host::has_cpu_to_spare(device.cpus, device.cpu_quota, threads);
}

/// A file that is named twice stands for a second machine, and machines of one name are told apart by their boot.
std::string machine_of(const Candidate& candidate) {
  const auto& host = candidate.device->host;
  return fmt::format("{} {} {}", candidate.place.first, host.boot_id, host.hostname);
}

bool overlap(const Candidate& one, const Candidate& other) {
  if (one.cpus.empty() || other.cpus.empty() || machine_of(one) != machine_of(other)) return false;
  const auto cpus = host::parse_cpu_list(one.device->cpus), others = host::parse_cpu_list(other.device->cpus);
  return std::find_first_of(cpus.begin(), cpus.end(), others.begin(), others.end()) != cpus.end();
}

}  // namespace

void join_overlapping(std::vector<Candidate>& candidates) {
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!overlap(candidates[i], candidates[j])) continue;
      const auto joined = candidates[i].cpus;
      for (auto& one : candidates) {
        if (one.cpus == joined) one.cpus = candidates[j].cpus;
      }
    }
  }
}

Candidate candidate_of(const Question& question, std::pair<std::size_t, int> place, std::size_t position) {
  const auto& profile = question.profiles[place.first];
  const auto& device = profile.devices[static_cast<std::size_t>(place.second)];
  const int blocks = profile.model.block_count();
  Candidate candidate{&device, place, StageTimes(blocks), StageTimes(blocks), StageTimes(blocks)};
  for (const auto& run : device.runs) {
    const auto band = band_of(device, run.compute_ns);
    candidate.fast.set(run.begin, run.end, whole(band.low));
    candidate.usual.set(run.begin, run.end, whole(band.value));
    candidate.slow.set(run.begin, run.end, whole(band.high));
  }
  if (blocks > kMostProfiledBlocks) estimate_others(candidate, blocks);
  const bool sleeps = profile.model.model.starts_with("synthetic:");
  if (!sleeps && !device.cpus.empty()) candidate.cpus = fmt::format("{} {}", machine_of(candidate), device.cpus);
  candidate.codes_beside = sleeps || has_cpu_to_spare(device);
  const auto& limits = question.memory_bytes;
  constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
  if (!limits.empty() || question.least_memory) {
    forbid_beyond(limits.empty() ? kAny : limits[limits.size() == 1 ? 0 : position], candidate, blocks);
  }
  return candidate;
}

}  // namespace paretopipe::predict
