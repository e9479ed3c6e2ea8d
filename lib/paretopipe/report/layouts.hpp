#pragma once
#include <paretopipe/report/export_layout.hpp>

/// The layouts behind export_layouts().
namespace paretopipe::report {

/// trials.csv: one row a trial, failed ones included, with its settings and all its metrics.
Export export_trials(std::span<const record::TrialRecord> records);

/// stages.csv: one row for each stage of each trial that took part, with what it used over both phases (CPU time,
/// context switches, page faults, memory), what its CPUs were worth, and how busy it was. Cells of what is not known
/// are empty; a trial without stages has no row. The trial's settings are named trial_…, for a stage has CPUs, too.
Export export_stages(std::span<const record::TrialRecord> records);

/// batches.csv: one row a batch of either phase, of every trial that has samples, whatever its status. `sequence`
/// counts from 0 in each phase; a batch that is cut has a row for each `micro-batch`, counted from 0, and its last
/// micro-batch's latency is the batch's; `warmup` says whether the batch enters statistics. Every part of
/// stats::breakdown() as PART_stageN_ns (of a transfer and its decode, N is the receiver), which add up to latency_ns,
/// and every moment of core/timeline.hpp as MOMENT_stageN_ns, since the phase's first batch was handed to the pipeline.
/// There are columns for as many stages as any trial has; cells of what a pipeline does not have are empty. `id` finds
/// the trial's settings in trials.csv.
Export export_batches(std::span<const record::TrialRecord> records);

/// load.csv: one row a Server phase, with the rates that were asked for, offered and achieved, and the latencies: of
/// one split, its latency against load. A search has a row for every rate that it tried, with `kept` for its bound.
Export export_load(std::span<const record::TrialRecord> records);

/// trials.jsonl: what trials.csv says, one flat JSON object a line. Numbers are numbers; what a trial does not have is
/// missing.
Export export_jsonl(std::span<const record::TrialRecord> records);

/// One trial in the JSON Object Format of the Trace Event Format that Chrome's tracing defined and Perfetto reads
/// ("Trace Event Format", Duane et al., Google). All spans (trace_spans.hpp) are a begin and an end event ("ph": "B"
/// and "E") in microseconds with three decimals, in the order of time; a process is a stage, a thread is what one thing
/// at a time can happen on. `cat` holds the kind of span, the phase, and "warmup" where it is; `args` the batch's
/// number, and the micro-batch's where batches are cut. Complete events ("X") would need half the lines, but a viewer
/// that adds their begin and duration is off by a rounding, and one span that ends where the next one begins would
/// overlap it. Throws UsageError with the candidates for more than one trial.
Export export_trace(std::span<const record::TrialRecord> records);

/// The JSON files of the Python tool ParetoPipe, one for each split: MODEL_split_K_metrics.json. Its notebooks draw one
/// frontier from all files of a folder, so that several groups (models, batch sizes, …) get a folder each.
///
/// What its fields mean there, and how close we come. All times are seconds, and everything is the arithmetic mean over
/// all measured batches of all ok repetitions.
///
///   model_name                 the model
///   split_index                the first so many blocks run on the first device: our split point. (For ResNets the
///                              tool does not count the stem: its index is ours - 1. We do not convert.)
///   static_network_delay_ms    the profile's delay, forward; there, what was typed in, for information only
///   system_inference_throughput_imgs_per_s
///                              batch / mean time between successive ends of part 2's compute. From the Offline phase,
///                              which has `depth` batches in flight; there, as many as the sockets' buffers swallow
///   average_metrics_per_batch  from the SingleStream phase, one batch in flight; there, from the same saturated run
///     part1_inference_time_s   compute of the first device
///     part2_inference_time_s   compute of the second device
///     network_time_s           seen by the receiver alone: from the arrival of the header to the last byte. Neither
///     the
///                              sender's time nor the link's delay is in it: usually much less than our `transfer`
///     end_to_end_latency_s     batch handed in → end of part 2's compute. The result's way back is not in it, unlike
///     in
///                              our `latency`. One clock here; the difference of two hosts' wall clocks there
///     intermediate_data_size_bytes
///                              bytes received in network_time_s: our tensor payload; there, a pickle some hundred
///                              bytes larger
///     network_throughput_mbps  intermediate_data_size_bytes / 2^20 / network_time_s, the mean of each batch's
///     quotient,
///                              0 where the time is 0. MiB per second, whatever the name says: times 8.388608 for
///                              Mbit/s
///
/// Not representable, and said so: "all local" (there is no network and no part 2), pipelines of more than two stages,
/// batches that are cut into micro-batches, and splits without an ok repetition.
Export export_python(std::span<const record::TrialRecord> records);

}  // namespace paretopipe::report
