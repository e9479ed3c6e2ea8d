#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/record/metric.hpp>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::record {

namespace {

using Value = std::optional<double>;

/// A member of a part that not every summary has.
template <auto Part, auto Member>
Value of_summary(const TrialRecord& record) {
  const auto& part = (*record.summary).*Part;
  return part ? Value{(*part).*Member} : Value{};
}

template <double Distribution::*Statistic>
constexpr auto latency = of_summary<&Summary::latency, Statistic>;
template <double Distribution::*Statistic>
constexpr auto loaded_latency = of_summary<&Summary::latency_under_load, Statistic>;
template <auto Member>
constexpr auto of_training = of_summary<&Summary::training, Member>;

Value throughput(const TrialRecord& record) {
  return record.summary->throughput_image_per_s;
}

/// By Little's law: one batch is always in flight and stays for the mean latency.
Value throughput_sequential(const TrialRecord& record) {
  const auto mean_ns = latency<&Distribution::mean_ns>(record);
  return mean_ns && *mean_ns > 0 ? Value{record.trial.batch * 1e9 / *mean_ns} : Value{};
}

/// The sum of the means of some parts of the breakdown; absent if the breakdown has none of them.
Value sum_of_parts(const TrialRecord& record, std::initializer_list<Part> wanted, std::optional<int> stage = {}) {
  Value sum;
  for (const auto& part : record.summary->breakdown) {
    if (stage && part.stage != *stage) continue;
    if (std::find(wanted.begin(), wanted.end(), part.part) != wanted.end()) sum = sum.value_or(0) + part.mean_ns;
  }
  return sum;
}

Value compute(const TrialRecord& record) {
  return sum_of_parts(record, {Part::compute});
}
Value transfer(const TrialRecord& record) {
  return sum_of_parts(record, {Part::transfer});
}
Value queue(const TrialRecord& record) {
  return sum_of_parts(record, {Part::queue, Part::send_queue});
}
Value codec(const TrialRecord& record) {
  return sum_of_parts(record, {Part::encode, Part::decode});
}

/// Absent if batches are dealt out: a device computes all of a batch or nothing of it.
template <int Stage>
Value stage_compute(const TrialRecord& record) {
  if (record.trial.data_parallel > 0) return std::nullopt;
  return sum_of_parts(record, {Part::compute}, Stage);
}

/// Between two stages of one device nothing crosses a network.
template <class Link>
bool within_device(const TrialRecord& record, const Link& link) {
  return experiment::way_between(record.trial.placement, link.from, link.to) == experiment::Way::within;
}

/// Bytes per batch over the links between devices. In an all-local trial there is no link and the sum is a true zero;
/// it is absent if a record lacks links that it should have.
template <class Bytes>
Value sum_over_links(const TrialRecord& record, Bytes bytes) {
  if (record.links.empty() && !record.trial.all_local()) return std::nullopt;
  double sum = 0;
  for (const auto& link : record.links) {
    if (!within_device(record, link)) sum += static_cast<double>(bytes(link));
  }
  // A batch that is dealt out crosses only the links of its device.
  return sum / std::max(1, record.trial.data_parallel);
}

Value payload(const TrialRecord& record) {
  return sum_over_links(record, [](const LinkPayload& link) { return link.to < link.from ? 0 : link.payload_bytes; });
}

Value payload_back(const TrialRecord& record) {
  return sum_over_links(record, [](const LinkPayload& link) { return link.to < link.from ? link.payload_bytes : 0; });
}

Value traffic(const TrialRecord& record) {
  return sum_over_links(record, [](const LinkPayload& link) { return link.payload_bytes + link.header_bytes; });
}

/// For the first link between devices.
Value of_first_link(const TrialRecord& record, double LinkSummary::*field) {
  for (const auto& link : record.summary->links) {
    if (!within_device(record, link)) return link.*field;
  }
  return std::nullopt;
}

Value goodput(const TrialRecord& record) {
  return of_first_link(record, &LinkSummary::goodput_byte_per_s);
}

Value receive_rate(const TrialRecord& record) {
  return of_first_link(record, &LinkSummary::receive_rate_byte_per_s);
}

Value bottleneck_utilisation(const TrialRecord& record) {
  const auto& stages = record.summary->stages;
  if (stages.empty()) return std::nullopt;
  return std::max_element(stages.begin(), stages.end(),
                          [](const auto& left, const auto& right) { return left.utilisation < right.utilisation; })
      ->utilisation;
}

template <double Distribution::*Statistic>
Value step_time(const TrialRecord& record) {
  const auto& training = record.summary->training;
  return training ? Value{training->step.*Statistic} : Value{};
}

Value bubble(const TrialRecord& record) {
  if (record.summary->training) return record.summary->training->bubble;
  const auto& stages = record.summary->stages;
  if (stages.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& stage : stages) sum += stage.bubble;
  return sum / static_cast<double>(stages.size());
}

template <std::size_t Stage>
Value parameters(const TrialRecord& record) {
  if (record.stages.size() <= Stage) return std::nullopt;
  return static_cast<double>(record.stages[Stage].parameter_bytes);
}

/// The largest value over all stages; absent if one stage's value is unknown.
template <class Bytes>
Value largest_of_stages(const TrialRecord& record, Bytes bytes) {
  Value largest;
  for (const auto& stage : record.stages) {
    const std::optional<std::int64_t> own = bytes(stage);
    if (!own) return std::nullopt;
    largest = std::max(largest.value_or(0), static_cast<double>(*own));
  }
  return largest;
}

Value peak_memory(const TrialRecord& record) {
  return largest_of_stages(record, [](const StageReport& stage) {
    return stage.memory ? std::optional(stage.memory->total()) : std::nullopt;
  });
}

Value peak_rss(const TrialRecord& record) {
  return largest_of_stages(record, [](const StageReport& stage) { return stage.peak_rss_bytes; });
}

template <auto Member>
Value fidelity(const TrialRecord& record) {
  return record.fidelity ? Value{(*record.fidelity).*Member} : Value{};
}

Value top1_accuracy(const TrialRecord& record) {
  if (!record.fidelity || !record.fidelity->accuracy) return std::nullopt;
  return record.fidelity->accuracy->top1;
}

/// The Server phase at the trial's own rate; null for a search, which ran at many rates.
const ServerSummary* server_of(const TrialRecord& record) {
  const bool one = record.server && !record.server->max_rate && !record.server->runs.empty();
  return one ? &record.server->runs.front().summary : nullptr;
}

template <double Distribution::*Statistic>
Value server_latency(const TrialRecord& record) {
  const auto* server = server_of(record);
  return server == nullptr ? Value{} : server->latency.*Statistic;
}

Value server_rate(const TrialRecord& record) {
  const auto* server = server_of(record);
  return server == nullptr ? Value{} : server->achieved_image_per_s;
}

Value max_rate(const TrialRecord& record) {
  return record.server && record.server->max_rate ? record.server->max_rate->kept_image_per_s : Value{};
}

/// A failed trial has no value, whatever it measured before it failed.
template <Value (*Read)(const TrialRecord&)>
Value of_ok_trial(const TrialRecord& record) {
  return record.status == Status::ok && record.summary ? Read(record) : std::nullopt;
}

template <Value (*Read)(const TrialRecord&)>
constexpr Metric metric(std::string_view name, std::string_view unit, Direction better, std::string_view meaning,
                        MeasuredIn measured_in = MeasuredIn::any_phase) {
  return {name, unit, better, meaning, measured_in, &of_ok_trial<Read>};
}

using D = Distribution;
constexpr auto kMin = Direction::min;
constexpr auto kMax = Direction::max;
constexpr auto kAlone = MeasuredIn::single_stream;
constexpr auto kLoaded = MeasuredIn::offline;
constexpr auto kInference = MeasuredIn::inference;
constexpr auto kTraining = MeasuredIn::training;

constexpr std::array kMetrics{
    metric<latency<&D::min_ns>>("latency_min", "ns", kMin, "shortest latency, one batch in flight", kAlone),
    metric<latency<&D::mean_ns>>("latency_mean", "ns", kMin, "mean latency, one batch in flight", kAlone),
    metric<latency<&D::p50_ns>>("latency_p50", "ns", kMin, "median latency, one batch in flight", kAlone),
    metric<latency<&D::p90_ns>>("latency_p90", "ns", kMin, "90th percentile of the latency, one batch in flight",
                                kAlone),
    metric<latency<&D::p95_ns>>("latency_p95", "ns", kMin, "95th percentile of the latency, one batch in flight",
                                kAlone),
    metric<latency<&D::p99_ns>>("latency_p99", "ns", kMin, "99th percentile of the latency, one batch in flight",
                                kAlone),
    metric<latency<&D::max_ns>>("latency_max", "ns", kMin, "longest latency, one batch in flight", kAlone),
    metric<throughput>("throughput", "image/s", kMax, "images completed per second with `depth` batches in flight",
                       kLoaded),
    metric<throughput_sequential>("throughput_sequential", "image/s", kMax,
                                  "images per second with one batch in flight: batch / latency_mean", kAlone),
    metric<loaded_latency<&D::min_ns>>("loaded_latency_min", "ns", kMin, "shortest latency during the throughput run",
                                       kLoaded),
    metric<loaded_latency<&D::mean_ns>>("loaded_latency_mean", "ns", kMin, "mean latency during the throughput run",
                                        kLoaded),
    metric<loaded_latency<&D::p50_ns>>("loaded_latency_p50", "ns", kMin, "median latency during the throughput run",
                                       kLoaded),
    metric<loaded_latency<&D::p90_ns>>("loaded_latency_p90", "ns", kMin, "90th percentile during the throughput run",
                                       kLoaded),
    metric<loaded_latency<&D::p95_ns>>("loaded_latency_p95", "ns", kMin, "95th percentile during the throughput run",
                                       kLoaded),
    metric<loaded_latency<&D::p99_ns>>("loaded_latency_p99", "ns", kMin, "99th percentile during the throughput run",
                                       kLoaded),
    metric<loaded_latency<&D::max_ns>>("loaded_latency_max", "ns", kMin, "longest latency during the throughput run",
                                       kLoaded),
    metric<server_latency<&D::min_ns>>("server_latency_min", "ns", kMin, "shortest latency at the Server phase's rate"),
    metric<server_latency<&D::mean_ns>>("server_latency_mean", "ns", kMin, "mean latency at the Server phase's rate"),
    metric<server_latency<&D::p50_ns>>("server_latency_p50", "ns", kMin, "median latency at the Server phase's rate"),
    metric<server_latency<&D::p90_ns>>("server_latency_p90", "ns", kMin, "90th percentile at the Server phase's rate"),
    metric<server_latency<&D::p95_ns>>("server_latency_p95", "ns", kMin, "95th percentile at the Server phase's rate"),
    metric<server_latency<&D::p99_ns>>("server_latency_p99", "ns", kMin, "99th percentile at the Server phase's rate"),
    metric<server_latency<&D::max_ns>>("server_latency_max", "ns", kMin, "longest latency at the Server phase's rate"),
    metric<server_rate>("server_rate", "image/s", kMax, "images completed per second in the Server phase"),
    metric<max_rate>("max_rate", "image/s", kMax, "highest Server rate that keeps the latency bound"),
    metric<compute>("compute", "ns", kMin, "mean compute time of a batch (cut: its last micro-batch), all stages",
                    kAlone),
    metric<stage_compute<0>>("compute_stage0", "ns", kMin,
                             "mean compute time of a batch (cut: its last micro-batch) on stage 0", kAlone),
    metric<stage_compute<1>>("compute_stage1", "ns", kMin,
                             "mean compute time of a batch (cut: its last micro-batch) on stage 1", kAlone),
    metric<transfer>("transfer", "ns", kMin,
                     "mean time of a batch (cut: its last micro-batch) on all links; absent where all is local",
                     kAlone),
    metric<queue>("queue", "ns", kMin, "mean time that a batch waited for a compute or send thread", kAlone),
    metric<codec>("codec", "ns", kMin,
                  "mean encode and decode time of a batch; with compute, transfer, queue: latency_mean", kAlone),
    metric<payload>("payload", "B", kMin, "tensor bytes of a batch that cross the cut, forward; 0 where all is local"),
    metric<payload_back>("payload_back", "B", kMin, "bytes of a batch's result on its way back to stage 0"),
    metric<traffic>("traffic", "B", kMin, "bytes of a batch on all links: forward, back, and headers"),
    metric<goodput>("goodput", "B/s", kMax,
                    "payload / median transfer time of the first link; absent where all is local", kAlone),
    metric<receive_rate>("receive_rate", "B/s", kMax, "payload / receiver-side time after the header, first link",
                         kAlone),
    metric<bottleneck_utilisation>("bottleneck_utilisation", "", kMax, "busiest stage's compute time / wall time",
                                   kLoaded),
    metric<bubble>("bubble", "", kMin, "share of the wall time without compute, mean over the stages",
                   MeasuredIn::offline_or_training),
    metric<step_time<&D::p50_ns>>("step_time", "ns", kMin, "training: median time of a step, until all weights are new",
                                  kTraining),
    metric<step_time<&D::mean_ns>>("step_time_mean", "ns", kMin, "training: mean time of a step", kTraining),
    metric<of_training<&TrainingSummary::sample_per_s>>("training_throughput", "image/s", kMax,
                                                        "training: samples per second", kTraining),
    metric<of_training<&TrainingSummary::expected_bubble>>(
        "bubble_expected", "", kMin, "training: the bubble if nothing took time but computing", kTraining),
    metric<of_training<&TrainingSummary::last_loss>>("loss", "", kMin, "training: loss of the last step", kTraining),
    metric<of_training<&TrainingSummary::uncompressed_loss>>(
        "loss_uncompressed", "", kMin, "training with a lossy codec: the loss of that step without it", kTraining),
    metric<parameters<0>>("parameters_stage0", "B", kMin, "bytes of parameters and buffers that stage 0 needs"),
    metric<parameters<1>>("parameters_stage1", "B", kMin, "bytes of parameters and buffers that stage 1 needs"),
    metric<peak_memory>("peak_memory", "B", kMin,
                        "what the stage that needs most needs: weights, prepared graph, tensors alive at once"),
    metric<peak_rss>("peak_rss", "B", kMin, "largest resident memory of any stage's process"),
    metric<fidelity<&Fidelity::max_abs_difference>>(
        "max_abs_difference", "", kMin, "largest difference of a logit from the unsplit model's", kInference),
    metric<fidelity<&Fidelity::mean_abs_difference>>(
        "mean_abs_difference", "", kMin, "mean difference of all logits from the unsplit model's", kInference),
    metric<fidelity<&Fidelity::top1_agreement>>("top1_agreement", "", kMax,
                                                "share of images whose class is the unsplit model's", kInference),
    metric<top1_accuracy>("top1_accuracy", "", kMax, "share of labelled images whose class is the label's", kInference),
};

}  // namespace

std::span<const Metric> metrics() {
  return kMetrics;
}

bool Metric::measured_by(experiment::Phases phases) const {
  switch (measured_in) {
    case MeasuredIn::any_phase:
      return true;
    case MeasuredIn::single_stream:
      return experiment::has_single_stream(phases);
    case MeasuredIn::inference:
      return phases != experiment::Phases::training;
    case MeasuredIn::training:
      return phases == experiment::Phases::training;
    case MeasuredIn::offline_or_training:
      return experiment::has_offline(phases) || phases == experiment::Phases::training;
    case MeasuredIn::offline:
      break;
  }
  return experiment::has_offline(phases);
}

const Metric& find_metric(std::string_view name) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const Metric& m) { return m.name == name; });
  if (found != kMetrics.end()) return *found;
  std::vector<std::string> names;
  for (const auto& known : kMetrics) names.emplace_back(known.name);
  throw UsageError(fmt::format("\"{}\" is not a metric{} Known metrics: {}", name,
                               closest_word(name, names) ? did_you_mean(name, names) : ".", fmt::join(names, ", ")));
}

std::array<const Metric*, 2> usual_objectives(experiment::Phases phases) {
  switch (phases) {
    case experiment::Phases::single_stream:
      return {&find_metric("latency_p50"), &find_metric("payload")};
    case experiment::Phases::offline:
      return {&find_metric("throughput"), &find_metric("payload")};
    case experiment::Phases::training:
      return {&find_metric("step_time"), &find_metric("peak_memory")};
    case experiment::Phases::both:
      break;
  }
  return {&find_metric("latency_p50"), &find_metric("throughput")};
}

}  // namespace paretopipe::record
