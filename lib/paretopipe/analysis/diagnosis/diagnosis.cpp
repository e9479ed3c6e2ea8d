#include <paretopipe/analysis/diagnosis/diagnosis.hpp>
#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/record/labels.hpp>

#include <algorithm>

namespace paretopipe::diagnosis {

namespace {

using Records = std::span<const record::TrialRecord>;

/// Removes the configuration's unwanted repetitions if any repetition is wanted. Returns true if one is.
bool narrow(stats::Configuration& configuration, Records records, const std::set<std::string>& wanted) {
  const auto is_wanted = [&](std::size_t index) { return wanted.contains(records[index].trial.id()); };
  const std::initializer_list<std::vector<std::size_t>*> all{&configuration.ok, &configuration.failed,
                                                             &configuration.invalid};
  const bool any = std::any_of(all.begin(), all.end(), [&](const auto* indices) {
    return std::any_of(indices->begin(), indices->end(), is_wanted);
  });
  if (!any) return false;
  for (auto* indices : all) std::erase_if(*indices, [&](std::size_t index) { return !is_wanted(index); });
  configuration.count_medians(records);
  return true;
}

bool same_place(const Constraint& left, const Constraint& right) {
  return left.kind == right.kind && left.stage == right.stage;
}

void measure(ConfigurationDiagnosis& diagnosis, Records records) {
  std::vector<Demands> repetitions;
  std::vector<const record::TrialRecord*> trained;
  for (const auto index : diagnosis.configuration.ok) {
    if (diagnosis.trial().training) {
      trained.push_back(&records[index]);
    } else if (diagnosis.trial().data_parallel == 0 && !diagnosis.lacks_phase()) {
      repetitions.push_back(demands_of(records[index]));
    }
    auto disturbances = stats::slow_down_sentences(records[index]);
    for (auto& sentence : stats::disturbances(records[index])) disturbances.push_back(std::move(sentence));
    diagnosis.disturbed += disturbances.empty() ? 0 : 1;
    for (const auto& sentence : disturbances) add_once(diagnosis.disturbances, record::printable(sentence));
  }
  if (!trained.empty()) diagnosis.step = step_demands(trained);
  if (repetitions.empty()) return;
  diagnosis.demands = median_demands(repetitions);
  diagnosis.bounds = constraints(*diagnosis.demands);
  diagnosis.agreeing =
      static_cast<std::size_t>(std::count_if(repetitions.begin(), repetitions.end(), [&](const auto& one) {
        return same_place(constraints(one).front(), diagnosis.bounds.front());
      }));
}

ConfigurationDiagnosis diagnose(stats::Configuration configuration, Records records,
                                const std::set<std::string>& wanted) {
  ConfigurationDiagnosis diagnosis;
  diagnosis.wanted = narrow(configuration, records, wanted);
  diagnosis.configuration = std::move(configuration);
  for (const auto* indices : {&diagnosis.configuration.failed, &diagnosis.configuration.invalid}) {
    for (const auto index : *indices) {
      const auto& failure = records[index].failure;
      add_once(diagnosis.reasons, failure ? record::printable(record::describe(*failure)) : "no reason is recorded");
    }
  }
  measure(diagnosis, records);
  return diagnosis;
}

void add_block_names(GroupDiagnosis& group, const stats::Configuration& configuration, Records records) {
  for (const auto index : configuration.ok) {
    for (const auto& stage : records[index].stages) {
      if (!stage.last_block.empty()) group.block_names[stage.blocks.end] = record::printable(stage.last_block);
    }
  }
}

}  // namespace

bool GroupDiagnosis::all_wanted() const {
  return std::all_of(configurations.begin(), configurations.end(), [](const auto& one) { return one.wanted; });
}

std::ptrdiff_t GroupDiagnosis::measured_count() const {
  return std::count_if(configurations.begin(), configurations.end(),
                       [](const auto& one) { return one.demands.has_value(); });
}

const ConfigurationDiagnosis* GroupDiagnosis::all_local() const {
  const auto found = std::find_if(configurations.begin(), configurations.end(),
                                  [](const auto& one) { return one.demands && one.trial().all_local(); });
  return found == configurations.end() ? nullptr : &*found;
}

const ConfigurationDiagnosis* GroupDiagnosis::data_parallel() const {
  const auto found = std::find_if(configurations.begin(), configurations.end(),
                                  [](const auto& one) { return one.trial().data_parallel > 0 && one.has_result(); });
  return found == configurations.end() ? nullptr : &*found;
}

const ConfigurationDiagnosis* GroupDiagnosis::fastest() const {
  const ConfigurationDiagnosis* best = nullptr;
  for (const auto& one : configurations) {
    if (!one.demands) continue;
    if (best == nullptr || one.demands->throughput_image_per_s > best->demands->throughput_image_per_s) best = &one;
  }
  return best;
}

const ConfigurationDiagnosis* GroupDiagnosis::measured(const experiment::Cut& cut) const {
  const auto found = std::find_if(configurations.begin(), configurations.end(),
                                  [&](const auto& one) { return one.demands && one.trial().cut() == cut; });
  return found == configurations.end() ? nullptr : &*found;
}

std::vector<GroupDiagnosis> diagnose(Records records, const std::set<std::string>& wanted) {
  std::vector<GroupDiagnosis> groups;
  for (auto& group : stats::aggregate(records)) {
    GroupDiagnosis diagnosis;
    for (auto& configuration : group.configurations) {
      add_block_names(diagnosis, configuration, records);
      diagnosis.configurations.push_back(diagnose(std::move(configuration), records, wanted));
    }
    const auto& all = diagnosis.configurations;
    if (std::any_of(all.begin(), all.end(), [](const auto& one) { return one.wanted; })) {
      groups.push_back(std::move(diagnosis));
    }
  }
  return groups;
}

namespace {

/// Smaller gains are not advised: measurements scatter by as much.
constexpr double kWorthwhile = 0.02;
/// A cut counts as lighter if it carries less than this share of the bytes.
constexpr double kLighter = 0.8;
/// A link can be made many times as fast, but a stage hardly can. If compute is the bottleneck, the next bound is only
/// mentioned if it is at least this share of it.
constexpr double kInReach = 0.5;

double throughput_of(const ConfigurationDiagnosis& one) {
  return one.demands->throughput_image_per_s;
}

/// The bytes that cross at each split point of the group's measured configurations with these codecs, encoded as at cut
/// `index`. All-local and all-remote configurations are left out, because no partition moves one of several of their
/// cuts.
std::map<int, std::int64_t> bytes_at_cuts(const GroupDiagnosis& group, const std::string& codec, std::size_t index) {
  std::map<int, std::int64_t> result;
  for (const auto& one : group.configurations) {
    if (!one.demands || one.trial().all_local() || one.trial().all_remote() || one.trial().codec != codec) continue;
    const auto& cuts = one.trial().split_points;
    for (std::size_t i = 0; i < cuts.size() && i < one.demands->links.size(); ++i) {
      if (!(experiment::codec_of_cut(codec, i) == experiment::codec_of_cut(codec, index))) continue;
      result[cuts[i]] = one.demands->links[i].payload_bytes;
    }
  }
  return result;
}

bool better(const LighterCut& left, const LighterCut& right) {
  if ((left.measured != nullptr) != (right.measured != nullptr)) return left.measured != nullptr;
  if (left.measured != nullptr) return throughput_of(*left.measured) > throughput_of(*right.measured);
  return left.bytes < right.bytes;
}

/// The best place for cut `index` between its neighbours where clearly less crosses it.
std::optional<LighterCut> lighter_cut(const GroupDiagnosis& group, const ConfigurationDiagnosis& one,
                                      std::size_t index) {
  const auto& cuts = one.trial().split_points;
  const int after = index == 0 ? 0 : cuts[index - 1];
  const int before = index + 1 < cuts.size() ? cuts[index + 1] : one.trial().block_count;
  const auto payload = static_cast<double>(one.demands->links[index].payload_bytes);
  std::optional<LighterCut> best;
  for (const auto& [block, bytes] : bytes_at_cuts(group, one.trial().codec, index)) {
    if (block <= after || block >= before || static_cast<double>(bytes) >= kLighter * payload) continue;
    auto moved = cuts;
    moved[index] = block;
    const LighterCut candidate{block, bytes, group.measured({moved, one.trial().codec, {}})};
    if (!best || better(candidate, *best)) best = candidate;
  }
  return best;
}

const ConfigurationDiagnosis* evenest_split(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  const auto slowest_ns = [](const auto& any) { return any.demands->slowest_stage().busy.mean_ns; };
  const auto* evenest = &one;
  for (const auto& other : group.configurations) {
    if (other.demands && slowest_ns(other) < slowest_ns(*evenest)) evenest = &other;
  }
  return slowest_ns(*evenest) < slowest_ns(one) * (1 - kWorthwhile) ? evenest : nullptr;
}

}  // namespace

Advice advise(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  Advice advice;
  const auto& bottleneck = one.bounds.front();
  advice.next = next_constraint(*one.demands);
  if (bottleneck.kind == Kind::depth) advice.depth = sufficient_depth(*one.demands);
  if (bottleneck.kind == Kind::link) {
    advice.lighter = lighter_cut(group, one, static_cast<std::size_t>(bottleneck.stage));
  }
  if (bottleneck.kind == Kind::compute) {
    if (advice.next && advice.next->period_ns < kInReach * bottleneck.period_ns) advice.next.reset();
    advice.evenest = evenest_split(group, one);
  }
  if (throughput_of(*group.fastest()) >= throughput_of(one) * (1 + kWorthwhile)) advice.fastest = group.fastest();
  return advice;
}

namespace {

/// Smaller losses are within the scatter of measurements.
constexpr double kNotable = 0.02;

double payload(const Demands& demands) {
  double bytes = 0;
  for (const auto& link : demands.links) bytes += static_cast<double>(link.payload_bytes);
  return bytes;
}

bool encodes(const experiment::Trial& trial, int stage) {
  const auto cut = static_cast<std::size_t>(stage);
  return stage + 1 < trial.stage_count() && experiment::codec_of_cut(trial.codec, cut).encodes();
}

bool encoder_bounds(const ConfigurationDiagnosis& one, const ConfigurationDiagnosis& plain) {
  const auto& bottleneck = one.bounds.front();
  const bool busy = bottleneck.kind == Kind::compute || bottleneck.kind == Kind::codec;
  return busy && encodes(one.trial(), bottleneck.stage) &&
         one.demands->throughput_image_per_s < (1 - kNotable) * plain.demands->throughput_image_per_s;
}

}  // namespace

double coding_ns(const record::Summary& summary) {
  double sum = 0;
  for (const auto& part : summary.breakdown) {
    if (part.part == record::Part::encode || part.part == record::Part::decode) sum += part.mean_ns;
  }
  return sum;
}

std::optional<double> break_even_bit_per_s(double saved_bytes, double added_ns) {
  if (saved_bytes <= 0 || added_ns <= 0) return std::nullopt;
  return 8 * saved_bytes / (added_ns * 1e-9);
}

std::optional<CodecEffect> codec_effect(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  if (one.trial().codec == codec::kNone || !one.demands) return std::nullopt;
  CodecEffect effect{.plain = group.measured({one.trial().split_points})};
  if (effect.plain == nullptr) return effect;
  const auto& plain = *effect.plain->demands;
  effect.saved_bytes = payload(plain) - payload(*one.demands);
  effect.added_ns = one.demands->idle.coding_ns - plain.idle.coding_ns;
  effect.break_even_bit_per_s = break_even_bit_per_s(effect.saved_bytes, effect.added_ns);
  effect.encoder_bounds = encoder_bounds(one, *effect.plain);
  return effect;
}

}  // namespace paretopipe::diagnosis
