#include <paretopipe/analysis/predict/verification.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::predict {

namespace {

std::pair<experiment::LinkConditions, experiment::LinkConditions> conditions_of(const Question& question) {
  const auto network = question.network.value_or(experiment::NetworkProfile{});
  return {network.forward, network.backward};
}

/// If all is local, nothing is encoded.
bool has_codec(const Question& question, const experiment::Trial& trial) {
  const auto& codecs = question.codecs;
  return trial.all_local() || std::find(codecs.begin(), codecs.end(), trial.codec) != codecs.end();
}

bool has_threads(const Question& question, const experiment::Trial& trial) {
  int stage = 0;
  for (const auto& profile : question.profiles) {
    for (const auto& device : profile.devices) {
      if (stage < trial.stage_count() && !device.has_threads(trial.threads_of(stage++))) return false;
    }
  }
  return true;
}

/// Like concerns(), but over any network.
bool concerns_in_some_network(const Question& question, const experiment::Trial& trial) {
  const auto& profile = question.profiles.front();
  return trial.data_parallel == 0 && !trial.training && trial.micro_batches() == 1 && has_codec(question, trial) &&
         trial.model == profile.model.model && trial.archive == profile.model.archive &&
         trial.batch == profile.model.batch && trial.compute == profile.mode &&
         trial.block_count == profile.model.block_count() && trial.stage_count() == stages_of(question) &&
         trial.num_classes == profile.num_classes && trial.depth == question.depth && has_threads(question, trial);
}

/// True if each link is the same, as far as predictions tell links apart.
bool same_links(const Question& one, const Question& other) {
  if (!same_network(one, other)) return false;
  using experiment::Shaping;
  const bool shaped = conditions_of(one) != conditions_of({});
  return !shaped || ((one.shaping == Shaping::emulated) == (other.shaping == Shaping::emulated) &&
                     one.placement == other.placement);
}

bool has_both_numbers(const record::TrialRecord& record) {
  return record.status == record::Status::ok && record.summary && record.summary->latency &&
         record.summary->throughput_image_per_s;
}

using Answers = std::map<experiment::Cut, std::vector<const record::TrialRecord*>>;

Answers collect(const Question& question, std::span<const record::TrialRecord> records) {
  Answers splits;
  for (const auto& record : records) {
    if (!has_both_numbers(record) || !concerns(question, record.trial)) continue;
    splits[record.trial.cut()].push_back(&record);
  }
  return splits;
}

/// The median over the repetitions of what `number` finds; none if it finds nothing in one of them.
template <class Number>
std::optional<double> median_of(const std::vector<const record::TrialRecord*>& records, const Number& number) {
  std::vector<double> found;
  for (const auto* record : records) {
    const std::optional<double> one = number(*record->summary);
    if (!one) return std::nullopt;
    found.push_back(*one);
  }
  return stats::median(std::move(found));
}

std::optional<double> compute_of(const record::Summary& summary, int stage) {
  for (const auto& part : summary.breakdown) {
    if (part.part == record::Part::compute && part.stage == stage) return part.p50_ns;
  }
  return std::nullopt;
}

std::optional<double> coding_of(const record::Summary& summary, int stage) {
  std::optional<double> sum;
  for (const auto& part : summary.breakdown) {
    const bool coding = part.part == record::Part::encode || part.part == record::Part::decode;
    if (coding && part.stage == stage) sum = sum.value_or(0) + part.p50_ns;
  }
  return sum;
}

std::optional<double> transfer_of(const record::Summary& summary, int from) {
  for (const auto& link : summary.links) {
    if (link.from == from) return link.transfer_p50_ns;
  }
  return std::nullopt;
}

std::vector<PartTimes> parts_of(const PredictedSplit& predicted, double latency_ns,
                                const std::vector<const record::TrialRecord*>& records) {
  std::vector<PartTimes> parts;
  double rest_ns = latency_ns;
  const auto add = [&](std::string part, double predicted_ns, std::optional<double> measured_ns) {
    if (!measured_ns) return;
    parts.push_back({std::move(part), predicted_ns, *measured_ns});
    rest_ns -= *measured_ns;
  };
  for (std::size_t i = 0; i < predicted.stage_ns.size(); ++i) {
    const int stage = static_cast<int>(i);
    add(fmt::format("compute of stage {}", stage), predicted.stage_ns[i].value,
        median_of(records, [&](const auto& summary) { return compute_of(summary, stage); }));
    if (predicted.coding_ns.empty()) continue;
    add(fmt::format("coding of stage {}", stage), predicted.coding_ns[i].value,
        median_of(records, [&](const auto& summary) { return coding_of(summary, stage); }));
  }
  for (std::size_t i = 0; i < predicted.link_ns.size(); ++i) {
    const int from = static_cast<int>(i);
    add(fmt::format("link from stage {}", from), predicted.link_ns[i].value,
        median_of(records, [&](const auto& summary) { return transfer_of(summary, from); }));
  }
  if (!parts.empty()) parts.push_back({"waiting between stages", 0, std::max(0.0, rest_ns)});
  return parts;
}

/// None unless a stage is the predicted bottleneck.
std::optional<PartTimes> load_of(const PredictedSplit& predicted, const Corrections& corrections,
                                 const std::vector<const record::TrialRecord*>& records) {
  if (predicted.bottleneck.kind != Bottleneck::Kind::stage) return std::nullopt;
  const auto stage = static_cast<std::size_t>(predicted.bottleneck.number);
  const auto measured = median_of(records, [&](const record::Summary& summary) -> std::optional<double> {
    if (stage >= summary.stages.size()) return std::nullopt;
    return summary.stages[stage].compute_p50_ns;
  });
  if (!measured) return std::nullopt;
  return PartTimes{fmt::format("compute of stage {} at depth", stage),
                   corrections.busy_pace / corrections.idle_pace * predicted.stage_ns[stage].value, *measured};
}

bool predictable(const experiment::NetworkProfile& network) {
  const auto at_random = [](const auto& link) { return link.loss > 0 || link.reorder > 0 || link.duplicate > 0; };
  return !at_random(network.forward) && !at_random(network.backward);
}

/// Devices of different files have no link that was probed.
bool knows_links(const Question& question) {
  return question.network || question.profiles.size() == 1;
}

VerifiedSplit verified(const PredictedSplit& predicted, const Corrections& corrections,
                       const std::vector<const record::TrialRecord*>& records) {
  VerifiedSplit split;
  split.cut = records.front()->trial.cut();
  split.predicted = predicted;
  split.repetitions = static_cast<int>(records.size());
  split.latency_ns = *median_of(records, [](const auto& summary) { return std::optional(summary.latency->p50_ns); });
  split.throughput_image_per_s =
      *median_of(records, [](const auto& summary) { return summary.throughput_image_per_s; });
  split.latency_parts = parts_of(predicted, split.latency_ns, records);
  split.under_load = load_of(predicted, corrections, records);
  return split;
}

}  // namespace

const PartTimes* VerifiedSplit::most_missed() const {
  const double direction = latency_ns < predicted.latency_ns.value ? -1 : 1;
  const PartTimes* most = nullptr;
  for (const auto& part : latency_parts) {
    const double missed = direction * part.missed_ns();
    if (missed > 0 && (most == nullptr || missed > direction * most->missed_ns())) most = &part;
  }
  return most;
}

bool same_network(const Question& one, const Question& other) {
  return conditions_of(one) == conditions_of(other);
}

bool concerns(const Question& question, const experiment::Trial& trial) {
  return concerns_in_some_network(question, trial) && same_links(question, question_about({}, trial));
}

std::vector<VerifiedGroup> verify_all(const std::vector<Profile>& profiles,
                                      std::span<const record::TrialRecord> records) {
  std::vector<VerifiedGroup> groups;
  if (profiles.empty()) return groups;
  const int devices = stages_of({.profiles = profiles});
  for (const auto& record : records) {
    const auto& trial = record.trial;
    const auto done = [&](const VerifiedGroup& group) { return concerns(group.question, trial); };
    if (!has_both_numbers(record) || trial.stage_count() != devices || !predictable(trial.network) ||
        std::any_of(groups.begin(), groups.end(), done)) {
      continue;
    }
    auto question = question_about(profiles, trial);
    if (!concerns(question, trial) || !knows_links(question)) continue;
    auto verification = verify(question, records);
    groups.push_back({std::move(question), std::move(verification)});
  }
  return groups;
}

std::vector<Question> questions_of(const Question& question, std::span<const record::TrialRecord> records) {
  std::vector<Question> questions;
  for (const auto& record : records) {
    if (!has_both_numbers(record) || !concerns_in_some_network(question, record.trial)) continue;
    if (!predictable(record.trial.network)) continue;
    const auto about = question_about({}, record.trial);
    const auto known = [&](const Question& other) { return same_links(other, about); };
    if (std::any_of(questions.begin(), questions.end(), known)) continue;
    auto asked = question;
    asked.network = about.network;
    asked.shaping = about.shaping;
    asked.placement = about.placement;
    if (knows_links(asked)) questions.push_back(std::move(asked));
  }
  return questions;
}

Question as_measured(Question question, std::span<const record::TrialRecord> records) {
  for (const auto& record : records) {
    if (!has_both_numbers(record) || !concerns_in_some_network(question, record.trial)) continue;
    const auto about = question_about({}, record.trial);
    if (!same_network(question, about)) continue;
    question.shaping = about.shaping;
    question.placement = about.placement;
    break;
  }
  return question;
}

Verification verify(Question question, std::span<const record::TrialRecord> records) {
  if (question.any_order) throw UsageError("what was measured has an order of devices: leave --any-order out");
  if (question.profiles.empty()) predict(question);  // says what is missing
  question.memory_bytes.clear();                     // limits are of choices, and these splits were measured
  question.least_memory = false;
  const auto measured = collect(question, records);
  std::vector<experiment::Cut> cuts;
  for (const auto& [cut, samples] : measured) cuts.push_back(cut);
  const auto predictions = predict_splits(question, cuts);
  Verification verification;
  std::vector<double> errors;
  int in_band = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    verification.splits.push_back(verified(predictions[i], question.corrections, measured.at(cuts[i])));
    const auto& split = verification.splits.back();
    errors.push_back(std::abs(split.latency_error()));
    errors.push_back(std::abs(split.throughput_error()));
    in_band += split.predicted.latency_ns.contains(split.latency_ns) ? 1 : 0;
    in_band += split.predicted.throughput_image_per_s.contains(split.throughput_image_per_s) ? 1 : 0;
  }
  if (errors.empty()) {
    const auto& model = question.profiles.front().model;
    throw UsageError(fmt::format(
        "compare predictions with what was measured: none of the {} trials is ok and of {} at batch {} in {} stages, "
        "with {} batches in flight, in the profiles' mode and with their threads, over {}; give the --depth and the "
        "--network of the sweep",
        records.size(), model.model, model.batch, stages_of(question), question.depth,
        question.network ? question.network->name : "no network"));
  }
  verification.in_band = in_band / static_cast<double>(errors.size());
  verification.worst_error = *std::max_element(errors.begin(), errors.end());
  verification.median_error = *stats::median(std::move(errors));
  return verification;
}

}  // namespace paretopipe::predict
