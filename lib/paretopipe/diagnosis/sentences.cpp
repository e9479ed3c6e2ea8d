#include <paretopipe/core/units.hpp>
#include <paretopipe/diagnosis/sentences.hpp>
#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advice.hpp"
#include "baseline.hpp"
#include "words.hpp"

namespace paretopipe::diagnosis {
namespace {

/// A run that came nearer to its bound than this needs no explanation of the rest.
constexpr double kNear = 0.9;
/// A run beyond its bound by more than this was too short for the bound to hold.
constexpr double kBeyond = 1.02;
/// A part whose slowest tenth of batches takes so many times the mean does not take the same time for every batch.
constexpr double kUneven = 1.2;
/// Compute at depth that takes so many times what it does with one batch in flight is held up by something.
constexpr double kHeldUp = 1.15;
/// Stages that are busy for a smaller share of the time are not worth a sentence.
constexpr double kNotableShare = 0.1;

/// More than all of it is what the first and the last batch differ by.
std::string of_the_period(double ns, const Demands& demands) {
  if (ns >= 0.995 * demands.period_ns()) {
    return fmt::format("{}, all the time from one result to the next", duration(ns));
  }
  return fmt::format("{} of the {} from one result to the next ({})", duration(ns), duration(demands.period_ns()),
                     percent(ns / demands.period_ns()));
}

std::string link_sentence(const Constraint& bottleneck, const Demands& demands) {
  const auto& link = demands.links.at(static_cast<std::size_t>(bottleneck.stage));
  const auto carried = static_cast<double>(link.payload_bytes + link.header_bytes);
  auto text =
      fmt::format("{} is the bottleneck: it is busy for {}, with {} a batch, which is {}bit/s",
                  capitalised(name_of(bottleneck)), of_the_period(bottleneck.period_ns, demands),
                  bytes(static_cast<double>(link.payload_bytes)), format_count(carried * 8e9 / bottleneck.period_ns));
  return link.rate_bit_per_s ? fmt::format("{} of the {}bit/s that the network has.", text,
                                           format_count(static_cast<double>(*link.rate_bit_per_s)))
                             : fmt::format("{}.", text);
}

std::string depth_sentence(const Constraint& bottleneck, const Demands& demands) {
  double longest = demands.source_ns.value_or(0);
  for (const auto& stage : demands.stages) longest = std::max(longest, stage.busy.mean_ns);
  for (const auto& link : demands.links) longest = std::max(longest, link.busy.mean_ns);
  const auto why = demands.in_flight == 1 && demands.chunks == 1
                       ? std::string("with one in flight stages and links take turns")
                       : fmt::format("{} in flight {} one result every {}", demands.in_flight,
                                     demands.in_flight == 1 ? "allows" : "allow", duration(bottleneck.period_ns));
  return fmt::format(
      "Too little is in flight: a batch takes {} round the ring where it waits for nothing, and {}, while "
      "no part is busy for more than {} a batch.",
      duration(demands.unqueued_ns()), why, duration(longest));
}

std::string bottleneck_sentence(const Constraint& bottleneck, const Demands& demands) {
  switch (bottleneck.kind) {
    case Kind::compute:
      return fmt::format("{} is the bottleneck: it takes {}.", capitalised(name_of(bottleneck)),
                         of_the_period(bottleneck.period_ns, demands));
    case Kind::source:
      return fmt::format(
          "The source is the bottleneck: to compare a result with the unsplit model's and hand over the "
          "next batch takes {}.",
          of_the_period(bottleneck.period_ns, demands));
    case Kind::link:
    case Kind::way_back:
      return link_sentence(bottleneck, demands);
    case Kind::depth:
      break;
  }
  return depth_sentence(bottleneck, demands);
}

std::string agreement_sentence(const ConfigurationDiagnosis& one) {
  const auto repetitions = one.configuration.ok.size();
  if (one.agreeing == repetitions) return "";
  return fmt::format("The repetitions do not agree on that: it is so in {} of {}.", one.agreeing, repetitions);
}

std::string bound_sentence(const ConfigurationDiagnosis& one) {
  const auto& demands = *one.demands;
  const auto measured = rate(demands.throughput_image_per_s);
  if (one.bounds.front().period_ns <= 0) return fmt::format("That is no bound; the run reached {}.", measured);
  const auto bound = rate(throughput_at(demands, one.bounds.front().period_ns));
  const double share = reached(demands);
  if (share <= kBeyond) {
    // How near a part comes is how much of the time it is busy, which has been said.
    const bool said = one.bounds.front().kind != Kind::depth;
    return fmt::format("That bounds the throughput at {}; the run reached {}{}.", bound, measured,
                       said ? "" : fmt::format(" ({})", percent(std::min(1.0, share))));
  }
  const auto why = one.bounds.front().kind == Kind::depth
                       ? fmt::format("what is in flight comes back in bunches of {}", demands.in_flight)
                       : std::string("their ends weigh in, and medians of parts and of the whole need not agree");
  return fmt::format(
      "That bounds a lasting throughput at {}. The run shows {} over {:.0f} results, which are too few: {}. "
      "Measure more batches.",
      bound, measured, demands.batches, why);
}

/// What the bottleneck was busy with, where it is a part.
const Busy* busy_at(const Constraint& constraint, const Demands& demands) {
  const auto index = static_cast<std::size_t>(constraint.stage);
  if (constraint.kind == Kind::compute) return &demands.stages.at(index).busy;
  const bool link = constraint.kind == Kind::link || constraint.kind == Kind::way_back;
  return link ? &demands.links.at(index).busy : nullptr;
}

/// What lies between the bound and the run.
std::string gap_sentence(const ConfigurationDiagnosis& one) {
  const auto& demands = *one.demands;
  const auto& bottleneck = one.bounds.front();
  if (reached(demands) >= kNear) return "";
  const auto gap = duration(demands.period_ns() - bottleneck.period_ns);
  const auto* busy = busy_at(bottleneck, demands);
  if (busy != nullptr && busy->p90_ns > kUneven * busy->mean_ns) {
    return fmt::format(
        "It is without work for the other {}; its batches differ (one in ten takes more than {}), and {} in "
        "flight do not even that out.",
        gap, duration(busy->p90_ns), demands.in_flight);
  }
  return fmt::format("The other {} are no part's work, and the records do not say what they were spent on.", gap);
}

/// Whether stages compute slower when all of them do.
std::string held_up_sentence(const Demands& demands) {
  for (std::size_t s = 0; s < demands.stages.size(); ++s) {
    const auto& stage = demands.stages[s];
    if (stage.busy.mean_ns < kNotableShare * demands.period_ns()) continue;
    if (stage.idle_compute_ns <= 0 || stage.compute_p50_ns < kHeldUp * stage.idle_compute_ns) continue;
    const auto* why = demands.stages_share_cpus ? ": the stages share CPUs" : "";
    return fmt::format("With {} in flight stage {} computes for {} a batch instead of {}{}.", demands.in_flight, s,
                       duration(stage.compute_p50_ns), duration(stage.idle_compute_ns), why);
  }
  return "";
}

std::string disturbance_sentence(const ConfigurationDiagnosis& one) {
  if (one.disturbances.empty()) return "";
  return fmt::format("{} of {} {} disturbed, which blurs all this: {}{}.", one.disturbed,
                     report::quantity(one.configuration.ok.size(), "repetition"), one.disturbed == 1 ? "was" : "were",
                     one.disturbances.front(),
                     one.disturbances.size() == 1 ? "" : fmt::format(", and {} more", one.disturbances.size() - 1));
}

std::string lacking_phase(const plan::Trial& trial) {
  return fmt::format("What bounds the throughput takes both phases to tell, and this was measured {}.",
                     config::describe(trial.phases));
}

std::string nothing_to_say(const ConfigurationDiagnosis& one) {
  const auto count = one.configuration.count(), invalid = one.configuration.invalid.size();
  return fmt::format(
      "There is nothing to diagnose: of {} repetition{}, {} failed and {} {} not measured as asked ({}).", count,
      count == 1 ? "" : "s", one.configuration.failed.size(), invalid, invalid == 1 ? "was" : "were",
      fmt::join(one.reasons, "; "));
}

/// How often which part is the bottleneck, the most frequent first.
std::string census(const GroupDiagnosis& group) {
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

std::string baseline_phrase(const GroupDiagnosis& group, const ConfigurationDiagnosis& fastest) {
  const auto* local = group.all_local();
  if (local == nullptr) return "Not splitting was not measured.";
  if (local == &fastest) return "No split is faster than that.";
  const auto gain = fastest.demands->throughput_image_per_s / local->demands->throughput_image_per_s;
  return fmt::format("That is {} the throughput of not splitting, {}.", times(gain),
                     rate(local->demands->throughput_image_per_s));
}

}  // namespace

std::vector<std::string> sentences(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  if (one.lacks_phase() && one.has_result()) return {lacking_phase(one.trial())};
  if (one.trial().data_parallel > 0 && one.has_result()) return describe_data_parallel(group, one);
  if (!one.demands) return {nothing_to_say(one)};
  std::vector<std::string> all{bottleneck_sentence(one.bounds.front(), *one.demands), agreement_sentence(one),
                               bound_sentence(one), gap_sentence(one)};
  std::ranges::copy(advice(group, one), std::back_inserter(all));
  std::ranges::copy(against_all_local(group, one), std::back_inserter(all));
  all.push_back(against_data_parallel(group, one));
  all.push_back(against_sequential(one));
  all.push_back(held_up_sentence(*one.demands));
  all.push_back(disturbance_sentence(one));
  std::erase_if(all, [](const auto& sentence) { return sentence.empty(); });
  return all;
}

std::string conclusion(const GroupDiagnosis& group) {
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

}  // namespace paretopipe::diagnosis
