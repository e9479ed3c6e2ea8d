#pragma once
#include <paretopipe/analysis/predict/prediction.hpp>
#include <paretopipe/analysis/predict/profile.hpp>

#include <string>
#include <vector>

namespace paretopipe::testing {

/// In nanoseconds.
inline constexpr double kMs = 1e6;

/// A profile of devices that compute each block in so many milliseconds (by device and block), always within 1 % (a
/// run's samples are 0.99, 1 and 1.01 of it), and of which every next one is 2 ms of round trip and 80 Mbit/s away.
/// Every block puts out 100 kB; the input has 200 kB, the result 40 bytes.
inline predict::Profile a_profile(const std::vector<std::vector<int>>& block_ms) {
  predict::Profile profile;
  profile.made_at = "2026-01-02T03:04:05Z";
  profile.release = "1.0";
  profile.stage_program_sha256 = "ab12";
  profile.model.model = "m";
  profile.model.batch = 2;
  profile.model.input_shape = {2, 25'000};
  profile.model.input_bytes = 200'000;
  const auto blocks = static_cast<int>(block_ms.front().size());
  for (int i = 0; i < blocks; ++i) {
    const bool last = i + 1 == blocks;
    experiment::BlockDescription block;
    block.name = "block." + std::to_string(i);
    block.output_shape = {last ? 10 : 25'000};
    block.activation_bytes = last ? 40 : 100'000;
    profile.model.blocks.push_back(block);
  }
  for (const auto& times : block_ms) {
    predict::ProfiledDevice device;
    device.name = "device " + std::to_string(profile.devices.size());
    device.host.hostname = "host";
    device.compute = {{"threads", 1}};
    for (int begin = 0; begin < blocks; ++begin) {
      std::int64_t ns = 0;
      for (int end = begin + 1; end <= blocks; ++end) {
        ns += std::int64_t{times[static_cast<std::size_t>(end) - 1]} * 1'000'000;
        device.runs.push_back({begin, end, {ns * 99 / 100, ns, ns * 101 / 100}, 1'000'000 * (end - begin)});
      }
    }
    profile.devices.push_back(device);
  }
  const auto devices = static_cast<int>(block_ms.size());
  for (int from = 0; from < devices; ++from) profile.links.push_back({from, (from + 1) % devices, 2'000'000, 80e6});
  return profile;
}

/// Times a codec on all devices, that makes one byte of `ratio` and always takes so many milliseconds for each cut (by
/// cut, 0 … N, or one for all).
inline void add_codec(predict::Profile& profile, const std::string& name, std::int64_t ratio,
                      const std::vector<int>& encode_ms, const std::vector<int>& decode_ms) {
  const auto of_cut = [](const std::vector<int>& ms, int cut) {
    return std::int64_t{ms[ms.size() == 1 ? 0 : static_cast<std::size_t>(cut)]} * 1'000'000;
  };
  for (auto& device : profile.devices) {
    for (int cut = 0; cut <= profile.model.block_count(); ++cut) {
      const auto encode_ns = of_cut(encode_ms, cut), decode_ns = of_cut(decode_ms, cut);
      device.codecs.push_back({name,
                               cut,
                               profile.model.bytes_at(cut) / ratio,
                               {encode_ns, encode_ns, encode_ns},
                               {decode_ns, decode_ns, decode_ns}});
    }
  }
}

/// A pipeline of such devices. A hundred batches in flight are so many that their number bounds nothing.
inline predict::Question question_of(const std::vector<std::vector<int>>& block_ms, int depth = 100) {
  return {.profiles = {a_profile(block_ms)}, .depth = depth};
}

inline predict::PredictedSplit predict_split(const predict::Question& question, const experiment::Cut& cut) {
  return predict::predict_splits(question, {cut}).front();
}

}  // namespace paretopipe::testing
