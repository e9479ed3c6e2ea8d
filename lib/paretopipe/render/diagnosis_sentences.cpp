#include <paretopipe/analysis/diagnosis/diagnosis.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_diagnosis.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "diagnosis_words.hpp"
#include "frontier_words.hpp"

namespace paretopipe::render {

namespace {

/// A run at least this near to its bound needs no further explanation.
constexpr double kNear = 0.9;
/// If the slowest tenth of a part's batches takes this many times the mean, its batches differ.
constexpr double kUneven = 1.2;
/// Compute at depth that takes this many times as long as with one batch in flight is held up by something.
constexpr double kHeldUp = 1.15;
/// Stages that are busy for a smaller share of the time are not mentioned.
constexpr double kNotableShare = 0.1;

std::string agreement(const diagnosis::ConfigurationDiagnosis& one) {
  const auto repetitions = one.configuration.ok.size();
  if (one.agreeing == repetitions) return "";
  return fmt::format("The repetitions do not agree on the bottleneck: it is so in {} of {}.", one.agreeing,
                     repetitions);
}

std::string too_short(const diagnosis::ConfigurationDiagnosis& one) {
  if (diagnosis::reached(*one.demands) <= kBeyond) return "";
  const auto why = one.bounds.front().kind == diagnosis::Kind::depth
                       ? fmt::format("what is in flight comes back in bunches of {}", one.demands->in_flight)
                       : std::string("their ends weigh in, and medians of parts and of the whole need not agree");
  return fmt::format("{:.0f} results are too few to hold against the bound: {}. Measure more batches.",
                     one.demands->batches, why);
}

std::string next_bound(const diagnosis::ConfigurationDiagnosis& one, const diagnosis::Advice& advice) {
  const bool depth = one.bounds.front().kind == diagnosis::Kind::depth;
  if (!advice.next || (depth && !advice.depth)) return "";
  return fmt::format("{}, {} would be the bound, at {}.",
                     depth ? fmt::format("With {} in flight", *advice.depth)
                           : fmt::format("If {} took no time", name_of(one.bounds.front())),
                     name_of(*advice.next), rate(diagnosis::throughput_at(*one.demands, advice.next->period_ns)));
}

std::string about_lighter_cut(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one,
                              const diagnosis::Advice& advice) {
  if (!advice.lighter) return "No cut that was measured instead carries clearly less.";
  const auto& link = one.demands->links[static_cast<std::size_t>(one.bounds.front().stage)];
  const auto share = static_cast<double>(advice.lighter->bytes) / static_cast<double>(link.payload_bytes);
  const auto* measured = advice.lighter->measured;
  return fmt::format(
      "A cut after block {} instead would carry {} of the bytes ({} a batch); {}.",
      numbered(advice.lighter->block, group), percent(share), bytes(static_cast<double>(advice.lighter->bytes)),
      measured == nullptr ? "it was not measured"
                          : fmt::format("measured: {}", rate(measured->demands->throughput_image_per_s)));
}

std::string about_evenest_split(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one,
                                const diagnosis::Advice& advice) {
  if (advice.evenest == nullptr) return "No split that was measured has a slowest stage that computes less.";
  const auto& evenest = *advice.evenest->demands;
  return fmt::format("With {} the slowest stage computes for {} instead of {}; measured: {}.",
                     way_to_cut(advice.evenest->trial(), group), duration(evenest.slowest_stage().busy.mean_ns),
                     duration(one.demands->slowest_stage().busy.mean_ns), rate(evenest.throughput_image_per_s));
}

/// What another cut would do about the bottleneck.
std::string another_cut(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one,
                        const diagnosis::Advice& advice) {
  switch (one.bounds.front().kind) {
    case diagnosis::Kind::compute:
      return about_evenest_split(group, one, advice);
    case diagnosis::Kind::link:
      return about_lighter_cut(group, one, advice);
    case diagnosis::Kind::way_back:
      return "Every cut sends a result back.";
    case diagnosis::Kind::source:
      return "The source compares a result with the unsplit model's and hands over the next batch, which no cut "
             "changes.";
    case diagnosis::Kind::codec:
    case diagnosis::Kind::depth:
      break;
  }
  return "";
}

/// How often a codec changes what the model says.
std::string changed_classes(const diagnosis::ConfigurationDiagnosis& one) {
  if (one.trial().codec == codec::kNone) return "";
  const auto kept = one.configuration.median(record::find_metric("top1_agreement"));
  if (!kept || *kept == 1) return "";
  return fmt::format("{} changes the class of {} of the samples.", record::printable(one.trial().codec),
                     percent(1 - *kept));
}

/// What the codec saves and costs, and at which rates of a link that is worth it.
std::string about_codec(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  const auto effect = diagnosis::codec_effect(group, one);
  if (!effect) return "";
  const auto codec = record::printable(one.trial().codec);
  if (effect->plain == nullptr) {
    return fmt::format("This cut was not measured without a codec, so what {} brings is unknown.", codec);
  }
  if (effect->saved_bytes <= 0) return fmt::format("{} saves no bytes here, and takes time.", codec);
  const auto cost = fmt::format("{} saves {} a batch and takes {} to encode and decode", codec,
                                bytes(effect->saved_bytes), duration(std::max(0.0, effect->added_ns)));
  if (!effect->break_even_bit_per_s) return fmt::format("{}: it shortens the latency over every link.", cost);
  return fmt::format("{}: it shortens the latency over links of less than {}.", cost,
                     format_count(*effect->break_even_bit_per_s) + "bit/s");
}

std::string about_encoder(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  const auto effect = diagnosis::codec_effect(group, one);
  if (!effect || !effect->encoder_bounds) return "";
  const double before = effect->plain->demands->throughput_image_per_s;
  return fmt::format(
      "Stage {} encodes and has no time to spare: the throughput falls by {} although the link is relieved.",
      one.bounds.front().stage, percent(1 - one.demands->throughput_image_per_s / before));
}

std::string fastest_split(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one,
                          const diagnosis::Advice& advice) {
  if (group.measured_count() == 1) return "No other split has a result under these settings.";
  if (group.fastest() == &one) return "No split that was measured under these settings is faster.";
  if (advice.fastest == nullptr) return "";
  const double fastest = advice.fastest->demands->throughput_image_per_s;
  const auto gain = percent(fastest / one.demands->throughput_image_per_s - 1);
  if (advice.fastest == advice.evenest || (advice.lighter && advice.fastest == advice.lighter->measured)) {
    return fmt::format("That is the fastest that was measured, by {}.", gain);
  }
  return fmt::format("The fastest that was measured is {}: {}, {} more.", way_to_cut(advice.fastest->trial(), group),
                     rate(fastest), gain);
}

/// A thread that encodes and then waits for the kernel to take the bytes can bound what neither of the two does alone.
std::string busy_sender(const diagnosis::Demands& demands) {
  for (std::size_t s = 0; s < demands.stages.size(); ++s) {
    const auto& stage = demands.stages[s];
    if (stage.codec.mean_ns == 0 || stage.sender_ns < kNear * demands.period_ns()) continue;
    return fmt::format(
        "One thread of stage {} encodes and sends, and never rests: of {} a batch it encodes for {}, and then waits "
        "until the kernel has taken the bytes.",
        s, duration(stage.sender_ns), duration(stage.codec.mean_ns));
  }
  return "";
}

/// Explains the gap between the bound and the run.
std::string gap(const diagnosis::ConfigurationDiagnosis& one) {
  const auto& demands = *one.demands;
  const auto& bottleneck = one.bounds.front();
  if (diagnosis::reached(demands) >= kNear) return "";
  if (auto sender = busy_sender(demands); !sender.empty()) return sender;
  const auto rest = duration(demands.period_ns() - bottleneck.period_ns);
  const auto* busy = diagnosis::busy_at(demands, bottleneck);
  if (busy != nullptr && busy->p90_ns > kUneven * busy->mean_ns) {
    return fmt::format(
        "For {} of the {} from one result to the next {} is without work: its batches differ (one in ten takes more "
        "than {}), and {} in flight do not even that out.",
        rest, duration(demands.period_ns()), name_of(bottleneck), duration(busy->p90_ns), demands.in_flight);
  }
  return fmt::format(
      "From one result to the next it takes {}, of which {} belong to no part, and the records do not say what they "
      "were.",
      duration(demands.period_ns()), rest);
}

/// Says whether a stage computes slower at depth, when all stages are busy.
std::string held_up(const diagnosis::Demands& demands) {
  for (std::size_t s = 0; s < demands.stages.size(); ++s) {
    const auto& stage = demands.stages[s];
    if (stage.busy.mean_ns < kNotableShare * demands.period_ns()) continue;
    if (stage.idle_compute_ns <= 0 || stage.compute_p50_ns < kHeldUp * stage.idle_compute_ns) continue;
    const auto* why = demands.stages_share_cpus                         ? ": the stages share CPUs"
                      : stage.sender_ns > 0 && stage.codec.mean_ns == 0 ? ": it encodes on the same CPUs"
                                                                        : "";
    return fmt::format("With {} in flight stage {} computes for {} a batch instead of {}{}.", demands.in_flight, s,
                       duration(stage.compute_p50_ns), duration(stage.idle_compute_ns), why);
  }
  return "";
}

std::string disturbance(const diagnosis::ConfigurationDiagnosis& one) {
  if (one.disturbances.empty()) return "";
  return fmt::format("{} of {} {} disturbed, which blurs all this: {}{}.", one.disturbed,
                     record::quantity(one.configuration.ok.size(), "repetition"), one.disturbed == 1 ? "was" : "were",
                     one.disturbances.front(),
                     one.disturbances.size() == 1 ? "" : fmt::format(", and {} more", one.disturbances.size() - 1));
}

std::string lacking_phase(const experiment::Trial& trial) {
  return fmt::format("The bottleneck is found from both phases, and this was measured {}.",
                     experiment::describe(trial.phases));
}

std::string nothing_to_say(const diagnosis::ConfigurationDiagnosis& one) {
  const auto count = one.configuration.count(), invalid = one.configuration.invalid.size();
  return fmt::format(
      "There is nothing to diagnose: of {} repetition{}, {} failed and {} {} not measured as asked ({}).", count,
      count == 1 ? "" : "s", one.configuration.failed.size(), invalid, invalid == 1 ? "was" : "were",
      fmt::join(one.reasons, "; "));
}

/// Counts how often each part is the bottleneck, the most frequent first.
std::string census(const diagnosis::GroupDiagnosis& group) {
  std::vector<std::pair<std::string, int>> counts;
  for (const auto& one : group.configurations) {
    if (one.bounds.empty()) continue;
    const auto name = name_of(one.bounds.front());
    auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& entry) { return entry.first == name; });
    if (found == counts.end()) found = counts.insert(counts.end(), {name, 0});
    ++found->second;
  }
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> phrases;
  for (const auto& [name, count] : counts) phrases.push_back(fmt::format("{} in {}", name, count));
  return fmt::format("{}", fmt::join(phrases, ", "));
}

std::string baseline_phrase(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& fastest) {
  const auto* local = group.all_local();
  if (local == nullptr) return "Not splitting was not measured.";
  if (local == &fastest) return "No split is faster than that.";
  const auto gain = fastest.demands->throughput_image_per_s / local->demands->throughput_image_per_s;
  return fmt::format("That is {} the throughput of not splitting, {}.", times(gain),
                     rate(local->demands->throughput_image_per_s));
}

}  // namespace

std::string headline(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  if (one.lacks_phase() && one.has_result()) return lacking_phase(one.trial());
  if (one.step) return step_headline(one);
  if (one.trial().data_parallel > 0 && one.has_result()) return data_parallel_headline(group, one);
  if (!one.demands) return nothing_to_say(one);
  const auto& demands = *one.demands;
  const auto& bottleneck = one.bounds.front();
  const auto measured = rate(demands.throughput_image_per_s);
  if (bottleneck.period_ns <= 0) return fmt::format("No part took any time; it reached {}.", measured);
  const double share = diagnosis::reached(demands);
  const auto factor = group.all_local() == &one ? "" : times_all_local(group, demands.throughput_image_per_s);
  return fmt::format("Bound by {} at {}; it reached {}{}{}{}.", name_of(bottleneck),
                     rate(diagnosis::throughput_at(demands, bottleneck.period_ns)), measured,
                     share > kBeyond ? "" : fmt::format(" ({})", percent(std::min(1.0, share))),
                     factor.empty() ? "" : ", ", factor);
}

std::vector<std::string> remarks(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one) {
  if (one.lacks_phase()) return {};
  if (one.trial().data_parallel > 0 && one.has_result() && !one.step) return data_parallel_remarks(one);
  if (one.step) {
    auto all = step_remarks(group, one);
    if (auto disturbed = disturbance(one); !disturbed.empty()) all.push_back(std::move(disturbed));
    return all;
  }
  if (!one.demands) return {};
  const auto advice = diagnosis::advise(group, one);
  std::vector<std::string> all({agreement(one), too_short(one), disturbance(one), changed_classes(one),
                                about_codec(group, one), about_encoder(group, one), next_bound(one, advice),
                                another_cut(group, one, advice), fastest_split(group, one, advice),
                                against_data_parallel(group, one), limits(group, one), gap(one), held_up(*one.demands),
                                compute_growth(group, one), latency(group, one), against_sequential(one)});
  std::erase_if(all, [](const auto& sentence) { return sentence.empty(); });
  return all;
}

std::string conclusion(const diagnosis::GroupDiagnosis& group) {
  if (std::ranges::any_of(group.configurations, [](const auto& one) { return one.step.has_value(); })) {
    return step_conclusion(group);
  }
  const auto* fastest = group.fastest();
  const auto has_result = [](const auto& one) { return one.has_result(); };
  if (fastest == nullptr && std::ranges::any_of(group.configurations, has_result) &&
      group.configurations.front().lacks_phase()) {
    return lacking_phase(group.settings());
  }
  if (fastest == nullptr) return "No trial of these settings has a result that counts.";
  auto text = fmt::format("The highest throughput measured is {}, by {}, where the bound is {}.",
                          rate(fastest->demands->throughput_image_per_s), way_to_cut(fastest->trial(), group),
                          name_of(fastest->bounds.front()));
  if (group.measured_count() == 1) return fmt::format("{} No other split has a result.", text);
  return fmt::format("{} {} The bottleneck of the {} splits is {}.", text, baseline_phrase(group, *fastest),
                     group.measured_count(), census(group));
}

}  // namespace paretopipe::render
