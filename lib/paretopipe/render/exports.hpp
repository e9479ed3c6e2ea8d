#pragma once
#include <paretopipe/record/record.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::render {

struct ExportFile {
  std::filesystem::path path;  ///< relative to the chosen folder
  std::string content;
};

struct Export {
  std::vector<ExportFile> files;
  std::vector<std::string> left_out;  ///< sentences: what the layout has no place for
};

/// A layout in which other programs read records.
struct ExportLayout {
  std::string_view name;     ///< "python", "trials"
  std::string_view meaning;  ///< one line for help texts
  Export (*make)(std::span<const record::TrialRecord>);
};

std::span<const ExportLayout> export_layouts();

/// Throws UsageError listing the known names.
const ExportLayout& find_export_layout(std::string_view name);

/// Selects trials of a file. An absent condition restricts nothing.
struct TrialSelection {
  std::string id_prefix{};               ///< the first digits of Trial::id(), in lower or upper case
  std::optional<std::string> split{};    ///< as record::split_number() writes it: "7", "3,7"
  std::optional<int> repetition{};       ///< counted from 1, as in Trial::label()
  std::optional<std::string> network{};  ///< the name of the profile
};

/// The selected trials, in their order. Throws UsageError, which lists the available trials, if there is none.
std::vector<record::TrialRecord> select_trials(std::span<const record::TrialRecord> records,
                                               const TrialSelection& selection);

/// One line per trial for a person who has to choose: id, label, status. The first twenty trials, and how many there
/// are besides.
std::string describe_trials(std::span<const record::TrialRecord> records);

// The layouts behind export_layouts().

/// trials.csv: one row per trial, including failed ones, with its settings and all its metrics.
Export export_trials(std::span<const record::TrialRecord> records);

/// stages.csv: one row for each stage that took part in a trial, with its resource use over both phases (CPU time,
/// context switches, page faults, memory), the condition of its CPUs, and its utilisation. Cells of unknown values are
/// empty; a trial without stages has no row. The trial's settings are named trial_…, because a stage has CPUs too.
Export export_stages(std::span<const record::TrialRecord> records);

/// batches.csv: one row per batch of either phase, for every trial that has samples, whatever its status. `sequence`
/// counts from 0 in each phase. A batch that is cut has a row for each micro-batch, which `chunk` counts from 0, and
/// its last micro-batch's latency is the batch's. `warmup` says whether the batch is excluded from statistics. The
/// columns PART_stageN_ns hold every part of stats::breakdown() (for a transfer and its decode, N is the receiver),
/// which add up to latency_ns. The columns MOMENT_stageN_ns hold every moment of core/timeline.hpp, since the phase's
/// first batch was handed to the pipeline. There are columns for the largest number of stages of any trial; cells that
/// a pipeline does not have are empty. `id` finds the trial's settings in trials.csv.
Export export_batches(std::span<const record::TrialRecord> records);

/// load.csv: one row per Server phase, with the requested, offered and achieved rates and the latencies. It shows the
/// latency of a split against its load. A search has a row for every rate that it tried; `kept` says whether the rate
/// kept the bound.
Export export_load(std::span<const record::TrialRecord> records);

/// trials.jsonl: the content of trials.csv as one flat JSON object per line. Numbers are numbers; keys without a value
/// are left out.
Export export_jsonl(std::span<const record::TrialRecord> records);

/// One trial in the JSON Object Format of the Trace Event Format that Chrome's tracing defined and Perfetto reads
/// ("Trace Event Format", Duane et al., Google). Every span (trace_spans.hpp) is a begin and an end event ("ph": "B"
/// and "E") in microseconds with three decimals, in the order of time. A process is a stage; a thread is a row without
/// overlapping spans. `cat` holds the kind of span, the phase, and "warmup" if it applies; `args` holds the batch's
/// number and, if batches are cut, the micro-batch's. Complete events ("X") would need half the lines, but a viewer's
/// sum of begin and duration is off by a rounding, so a span would overlap the next one that begins at its end. Throws
/// UsageError with the candidates for more than one trial.
Export export_trace(std::span<const record::TrialRecord> records);

/// The JSON files of the Python tool ParetoPipe, one for each split: MODEL_split_K_metrics.json. Its notebooks draw one
/// frontier from all files of a folder, so each of several groups (models, batch sizes, …) gets a folder of its own.
///
/// The meaning of the fields in that tool, and how ours differ. All times are seconds, and every value is the
/// arithmetic mean over all measured batches of all ok repetitions.
///
///   model_name                 the model
///   split_index                the number of blocks on the first device: our split point. (For ResNets the tool does
///                              not count the stem: its index is ours - 1. We do not convert.)
///   static_network_delay_ms    the profile's delay, forward; there, what was typed in, for information only
///   system_inference_throughput_imgs_per_s
///                              batch / mean time between successive ends of part 2's compute. From the Offline phase,
///                              which has `depth` batches in flight; there, as many as the sockets' buffers swallow
///   average_metrics_per_batch  from the SingleStream phase, one batch in flight; there, from the same saturated run
///     part1_inference_time_s   compute of the first device
///     part2_inference_time_s   compute of the second device
///     network_time_s           at the receiver alone: from the arrival of the header to the last byte. Excludes the
///                              sender's time and the link's delay: usually much less than our `transfer`
///     end_to_end_latency_s     batch handed in → end of part 2's compute. Unlike our `latency`, it excludes the
///                              result's way back. One clock here; the difference of two hosts' wall clocks there
///     intermediate_data_size_bytes
///                              bytes received in network_time_s: our tensor payload; there, a pickle some hundred
///                              bytes larger
///     network_throughput_mbps  mean over the batches of intermediate_data_size_bytes / 2^20 / network_time_s, 0 where
///                              the time is 0. MiB per second, despite the name: times 8.388608 for Mbit/s
///
/// Splits that the layout cannot represent are reported: "all local" (there is no network and no part 2), pipelines of
/// more than two stages, batches that are cut into micro-batches, and splits without an ok repetition.
Export export_python(std::span<const record::TrialRecord> records);

}  // namespace paretopipe::render
