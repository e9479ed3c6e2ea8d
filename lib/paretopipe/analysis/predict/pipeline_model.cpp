#include <paretopipe/analysis/predict/pipeline_model.hpp>
#include <paretopipe/analysis/predict/queueing.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace paretopipe::predict {

namespace {

/// The share of a rate that is payload: TCP's 1448 bytes of a frame's 1514.
constexpr double kPayloadShare = 1448.0 / 1514.0;

std::size_t at(int number) {
  return static_cast<std::size_t>(number);
}

Band wider(const Band& band, double spread) {
  const auto low = std::hypot(band.value - band.low, band.value * spread);
  const auto high = std::hypot(band.high - band.value, band.value * spread);
  return {std::max(0.0, band.value - low), band.value, band.value + high};
}

Band operator+(const Band& one, const Band& other) {
  return {one.low + other.low, one.value + other.value, one.high + other.high};
}

Band operator*(double factor, const Band& band) {
  return {factor * band.low, factor * band.value, factor * band.high};
}

Band longer(const Band& one, const Band& other) {
  return {std::max(one.low, other.low), std::max(one.value, other.value), std::max(one.high, other.high)};
}

/// The share of its CPUs' time that a device takes while it computes.
double share_of_cpus(const ProfiledDevice& device) {
  const double threads = device.compute.is_object() ? device.compute.value("threads", 1) : 1;
  const auto cpus = static_cast<double>(host::parse_cpu_list(device.cpus).size());
  return std::min(1.0, device.cpu_quota.value_or(threads) / cpus);
}

/// The part of a split that batches keep busy for longest, and for how long each batch does.
class Period {
 public:
  void occupy(const Band& busy, Bottleneck::Kind kind, std::size_t number) {
    if (busy.value > longest_.value) bottleneck_ = {kind, static_cast<int>(number)};
    longest_ = longer(longest_, busy);
  }

  const Band& longest() const { return longest_; }
  const Bottleneck& bottleneck() const { return bottleneck_; }

 private:
  Band longest_{};
  Bottleneck bottleneck_{};
};

/// For how long each batch keeps the stages from the next one: the slowest stage, or CPUs that several share, and a
/// share of what the other stages compute meanwhile.
Period period_of_stages(const std::vector<const Candidate*>& devices, const std::vector<Band>& times,
                        const Corrections& corrections) {
  Period period;
  Band all;
  std::map<std::string, std::pair<std::size_t, Band>> shared;  // by CPUs: the first stage there, and all their time
  for (std::size_t i = 0; i < times.size(); ++i) {
    period.occupy(times[i], Bottleneck::Kind::stage, i);
    all = all + times[i];
    if (devices[i]->cpus.empty()) continue;
    auto& time = shared.emplace(devices[i]->cpus, std::pair(i, Band{})).first->second.second;
    time = time + share_of_cpus(*devices[i]->device) * times[i];
  }
  for (const auto& [cpus, busy] : shared) period.occupy(busy.second, Bottleneck::Kind::cpus, busy.first);
  const auto& longest = period.longest();
  const auto held_up = [&](double most, double sum) {
    return most + corrections.contention * std::max(0.0, sum - most);
  };
  Period corrected;
  corrected.occupy(corrections.busy_pace * Band{held_up(longest.low, all.low), held_up(longest.value, all.value),
                                                held_up(longest.high, all.high)},
                   period.bottleneck().kind, static_cast<std::size_t>(period.bottleneck().number));
  return corrected;
}

std::optional<ServerLatency> server_latency(const Band& latency, const Band& period, double batches_per_s) {
  const auto low = waiting(period.low, batches_per_s);
  const auto usual = waiting(period.value, batches_per_s);
  const auto high = waiting(period.high, batches_per_s);
  if (!usual) return std::nullopt;
  // In the slowest case the split may not keep up. Then no wait is too long.
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const Waiting longest = high.value_or(Waiting{kAny, kAny});
  return ServerLatency{latency + Band{low->mean_ns, usual->mean_ns, longest.mean_ns},
                       latency + Band{low->p99_ns, usual->p99_ns, longest.p99_ns}};
}

}  // namespace

Band Way::latency_ns(std::int64_t bytes) const {
  const auto usual = fixed_ns + busy_ns(bytes);
  return {usual - std::min(fixed_ns, 3 * jitter_ns), usual, usual + 3 * jitter_ns};
}

PipelineModel::PipelineModel(const Question& question, const std::string& codec)
    : question_(question), codec_(codec), model_(question.profiles.at(0).model), stages_(stages_of(question)) {
  check_profiles();
  add_devices();
  if (codec_ != codec::kNone) add_codec();
  check_devices();
  find_ways();
}

void PipelineModel::check_profiles() const {
  for (const auto& other : question_.profiles) {
    if (const auto why = difference(question_.profiles.front(), other); !why.empty()) {
      throw UsageError(fmt::format("predict from these profiles together: {}", why));
    }
  }
}

void PipelineModel::add_devices() {
  std::vector<std::pair<std::size_t, int>> places;
  for (std::size_t profile = 0; profile < question_.profiles.size(); ++profile) {
    const auto count = static_cast<int>(question_.profiles[profile].devices.size());
    for (int number = 0; number < count; ++number) places.emplace_back(profile, number);
  }
  const auto limits = question_.memory_bytes.size();
  if (limits > 1 && limits != places.size()) {
    throw UsageError(fmt::format("{} memory limits were given for {} devices; give one for all, or one for each",
                                 limits, places.size()));
  }
  for (std::size_t i = 0; i < places.size(); ++i) candidates_.push_back(candidate_of(question_, places[i], i));
  join_overlapping(candidates_);
}

/// The bytes on a link are the most that any device made of what crosses.
void PipelineModel::add_codec() {
  if (experiment::codec_count(codec_) > 1) {
    throw UsageError(
        fmt::format("predict {}: only one codec for all cuts is predicted; measure one for each of them with "
                    "`paretopipe sweep --codec {}`",
                    codec_, codec_));
  }
  encoded_bytes_.assign(at(blocks()) + 1, 0);
  for (auto& candidate : candidates_) {
    const auto& device = *candidate.device;
    for (int cut = 0; cut <= blocks(); ++cut) {
      const auto* profiled = device.codec(codec_, cut);
      if (profiled == nullptr) {
        throw UsageError(
            fmt::format("predict {}: the profile of {} does not have this codec; make it again with `paretopipe "
                        "profile --codec {}`",
                        codec_, device.name, codec_));
      }
      candidate.encode_ns.push_back(band_of(device, profiled->encode_ns));
      candidate.decode_ns.push_back(band_of(device, profiled->decode_ns));
      encoded_bytes_[at(cut)] = std::max(encoded_bytes_[at(cut)], profiled->payload_bytes);
    }
  }
}

void PipelineModel::check_devices() const {
  const auto devices = static_cast<int>(candidates_.size());
  if (question_.any_order ? stages_ <= devices : stages_ == devices) return;
  throw UsageError(fmt::format(
      "the profiles hold {} devices, and the pipeline has {} stages; name as many as there are stages, a file twice "
      "for a second one of its devices{}",
      devices, stages_, question_.any_order ? "" : ", or let --any-order choose"));
}

const ProfiledLink* PipelineModel::probed(std::size_t from, std::size_t to) const {
  const auto [profile, sender] = candidates_[from].place;
  const auto [same_profile, receiver] = candidates_[to].place;
  if (profile != same_profile) return nullptr;
  for (const auto& link : question_.profiles[profile].links) {
    if (link.from == sender && link.to == receiver) return &link;
  }
  return nullptr;
}

void PipelineModel::find_ways() {
  if (stages_ == 1) return;
  if (!question_.network) return find_probed_ways();
  for (int stage = 0; stage < stages_; ++stage) {
    const auto way = experiment::way_between(question_.placement, stage, (stage + 1) % stages_);
    ways_.push_back(shaped_way(experiment::along(*question_.network, way).forward));
  }
}

void PipelineModel::find_probed_ways() {
  if (question_.any_order) {
    throw UsageError("choose among orders over links of which each is another: name the --network of all of them");
  }
  for (std::size_t stage = 0; stage < candidates_.size(); ++stage) {
    const auto next = (stage + 1) % candidates_.size();
    const auto* link = probed(stage, next);
    if (link == nullptr) {
      throw UsageError(
          fmt::format("nothing says how fast the way from {} to {} is: profile them together, or name a --network",
                      candidates_[stage].device->name, candidates_[next].device->name));
    }
    ways_.push_back({static_cast<double>(link->round_trip_ns) / 2, 0, link->rate_bit_per_s});
  }
}

/// What the conditions prescribe, on top of the slowest link that was probed.
Way PipelineModel::shaped_way(const experiment::LinkConditions& conditions) const {
  const auto& name = question_.network->name;
  if (conditions.loss > 0 || conditions.reorder > 0 || conditions.duplicate > 0) {
    throw UsageError(
        fmt::format("predict over {}: it loses, reorders or duplicates packets, and what TCP makes of that has to be "
                    "measured: paretopipe sweep --network {}",
                    name, name));
  }
  Way way;
  for (const auto& profile : question_.profiles) {
    for (const auto& link : profile.links) {
      way.fixed_ns = std::max(way.fixed_ns, static_cast<double>(link.round_trip_ns) / 2);
      way.rate_bit_per_s = std::min(way.rate_bit_per_s, link.rate_bit_per_s);
    }
  }
  way.fixed_ns += static_cast<double>(conditions.delay.count());
  way.jitter_ns = static_cast<double>(conditions.jitter.count());
  if (conditions.rate_bit_per_s) {
    const auto share = question_.shaping == experiment::Shaping::emulated ? 1 : kPayloadShare;
    way.rate_bit_per_s = std::min(way.rate_bit_per_s, static_cast<double>(*conditions.rate_bit_per_s) * share);
  }
  if (std::isinf(way.rate_bit_per_s)) {
    throw UsageError(fmt::format(
        "predict over {}: it has no rate, and the profiles probed no link; name a network that has one", name));
  }
  return way;
}

std::int64_t PipelineModel::bytes_over(std::size_t number, std::size_t stages, int cut) const {
  return encoded_bytes_.empty() || number + 1 == stages ? model_.bytes_at(cut) : encoded_bytes_[at(cut)];
}

/// In the search every stage has blocks. So only the first stage has the first block, and only the last one the last.
std::vector<StageTimes> PipelineModel::stage_times() const {
  std::vector<StageTimes> all;
  for (const auto& candidate : candidates_) {
    auto& times = all.emplace_back(candidate.usual);
    if (candidate.encode_ns.empty()) continue;
    for (int begin = 0; begin < blocks(); ++begin) {
      for (int end = begin + 1; end <= blocks(); ++end) {
        const auto coding = (begin > 0 ? candidate.decode_ns[at(begin)].value : 0) +
                            (end < blocks() ? candidate.encode_ns[at(end)].value : 0);
        if (times.possible(begin, end)) {
          times.set(begin, end, whole(static_cast<double>(times.at(begin, end)) + coding));
        }
      }
    }
  }
  return all;
}

std::vector<LinkTimes> PipelineModel::link_times() const {
  const auto& corrections = question_.corrections;
  std::vector<LinkTimes> links;
  for (std::size_t number = 0; number < ways_.size(); ++number) {
    const auto& way = ways_[number];
    auto& times = links.emplace_back();
    for (int cut = 0; cut <= blocks(); ++cut) {
      const auto bytes = bytes_over(number, ways_.size(), cut);
      times.busy_ns.push_back(whole(way.busy_ns(bytes) / corrections.busy_pace));
      times.latency_ns.push_back(
          whole((way.latency_ns(bytes).value + corrections.hand_over_ns) / corrections.idle_pace));
    }
  }
  return links;
}

bool PipelineModel::separable() const {
  if (question_.corrections.contention > 0) return false;
  if (!encoded_bytes_.empty() && std::ranges::any_of(candidates_, &Candidate::codes_beside)) return false;
  std::set<std::string> taken;
  return std::all_of(candidates_.begin(), candidates_.end(),
                     [&](const auto& one) { return one.cpus.empty() || taken.insert(one.cpus).second; });
}

std::vector<PlacedStage> PipelineModel::placed(const std::vector<int>& split_points) const {
  std::vector<PlacedStage> stages;
  int begin = 0;
  for (int stage = 0; stage < stages_; ++stage) {
    const auto last = stage == static_cast<int>(split_points.size());
    const int end = last ? blocks() : split_points.at(at(stage));
    stages.push_back({stage, begin, end});
    begin = end;
  }
  if (stages.front().end == blocks()) stages.resize(1);  // all local: nothing crosses a link
  return stages;
}

bool PipelineModel::fits(const std::vector<PlacedStage>& stages) const {
  return std::all_of(stages.begin(), stages.end(), [&](const auto& stage) {
    return stage.begin == stage.end || candidates_[at(stage.device)].usual.possible(stage.begin, stage.end);
  });
}

Band PipelineModel::time_of(const PlacedStage& stage) const {
  if (stage.begin == stage.end) return {};
  const auto& device = candidates_[at(stage.device)];
  const auto time = [&](const StageTimes& times) { return static_cast<double>(times.at(stage.begin, stage.end)); };
  return {time(device.fast), time(device.usual), time(device.slow)};
}

Band PipelineModel::coding_of(const std::vector<PlacedStage>& stages, std::size_t number) const {
  const auto& stage = stages[number];
  const auto& device = candidates_[at(stage.device)];
  Band coding;
  if (number > 0) coding = coding + device.decode_ns[at(stage.begin)];
  if (number + 1 < stages.size()) coding = coding + device.encode_ns[at(stage.end)];
  return coding;
}

PredictedSplit PipelineModel::judge(const std::vector<PlacedStage>& stages) const {
  const auto& corrections = question_.corrections;
  PredictedSplit split;
  split.stages = stages;
  std::vector<const Candidate*> devices;
  std::vector<Band> alone;
  Band latency;
  const bool encodes = !encoded_bytes_.empty() && stages.size() > 1;
  if (encodes) split.codec = codec_;
  for (const auto& stage : stages) {
    devices.push_back(&candidates_[at(stage.device)]);
    alone.push_back(time_of(stage));
    split.stage_ns.push_back(corrections.idle_pace * alone.back());
    if (encodes) {
      const auto coding = coding_of(stages, alone.size() - 1);
      split.coding_ns.push_back(corrections.idle_pace * coding);
      latency = latency + split.coding_ns.back();
      alone.back() = devices.back()->codes_beside ? longer(alone.back(), coding) : alone.back() + coding;
    }
    split.memory_bytes.push_back(
        stage.begin == stage.end ? 0 : memory_of(*devices.back()->device, stage.begin, stage.end, blocks()));
    latency = latency + split.stage_ns.back();
  }
  auto period = period_of_stages(devices, alone, corrections);
  for (std::size_t i = 0; i < stages.size() && stages.size() > 1; ++i) {
    const auto bytes = bytes_over(i, stages.size(), stages[i].end);
    const auto hand_over = corrections.hand_over_ns;
    split.payload_bytes.push_back(bytes);
    split.link_ns.push_back(ways_[i].latency_ns(bytes) + Band{hand_over, hand_over, hand_over});
    latency = latency + split.link_ns.back();
    const auto busy = ways_[i].busy_ns(bytes);
    period.occupy({busy, busy, busy}, Bottleneck::Kind::link, i);
  }
  period.occupy(1.0 / question_.depth * latency, Bottleneck::Kind::depth, 0);
  split.bottleneck = period.bottleneck();
  split.latency_ns = wider(latency, corrections.latency_spread);
  const auto rate = [&](double period_ns) { return model_.batch * 1e9 / std::max(1.0, period_ns); };
  const auto& longest = period.longest();
  split.throughput_image_per_s =
      wider({rate(longest.high), rate(longest.value), rate(longest.low)}, corrections.throughput_spread);
  if (question_.rate_image_per_s && split.bottleneck.kind != Bottleneck::Kind::depth) {
    split.server = server_latency(split.latency_ns, wider(longest, corrections.throughput_spread),
                                  *question_.rate_image_per_s / model_.batch);
  }
  return split;
}

}  // namespace paretopipe::predict
