#pragma once
#include <paretopipe/codec/codec.hpp>
#include <paretopipe/core/fidelity.hpp>
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/timeline.hpp>
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/experiment/scenario.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/gpu_watch.hpp>
#include <paretopipe/host/health.hpp>
#include <paretopipe/host/host_context.hpp>
#include <paretopipe/host/process_usage.hpp>
#include <paretopipe/host/thermal.hpp>
#include <paretopipe/host/wall_clock.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/envelope.hpp>
#include <paretopipe/stage/fault.hpp>
#include <paretopipe/stage/link_messages.hpp>
#include <paretopipe/stage/whereabouts.hpp>
#include <paretopipe/wire/frame.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// The control protocol between the driver and a stage: one request, one reply, in order. Only `WhereAreYou`
/// (whereabouts.hpp) may come in between. `Fault` answers a request that cannot be carried out. The end of the stream
/// ends the stage. Every message travels as {"type": name, "body": {...}}.
namespace paretopipe::wire {

NLOHMANN_JSON_SERIALIZE_ENUM(DType,
                             {{DType::float32, "float32"}, {DType::bfloat16, "bfloat16"}, {DType::int64, "int64"}})
NLOHMANN_JSON_SERIALIZE_ENUM(MemoryFormat,
                             {{MemoryFormat::contiguous, "contiguous"}, {MemoryFormat::channels_last, "channels_last"}})
PARETOPIPE_JSON(TensorSpec, dtype, memory_format, shape)
}  // namespace paretopipe::wire

namespace paretopipe::codec {
inline void to_json(nlohmann::json& json, const Codec& codec) {
  json = to_string(codec);
}
inline void from_json(const nlohmann::json& json, Codec& codec) {
  codec = parse(json.get<std::string>());
}
}  // namespace paretopipe::codec

namespace paretopipe::stage {

/// Grows whenever a message changes its meaning. The driver refuses a stage of another version. It did not grow with
/// `codec_begin` and `git_state`: messages without them are understood, so that an older stage program can be measured
/// beside this one.
inline constexpr int kControlProtocolVersion = 21;

/// First request: where and how to compute.
struct Configure {
  static constexpr std::string_view kType = "configure";
  int stage = 0;     ///< index in the pipeline
  std::string cpus;  ///< the kernel's list format; empty leaves the affinity alone
  ComputeOptions compute;
  int stages = 1;  ///< stages that share the machine's memory, including this one
};
PARETOPIPE_JSON(Configure, stage, cpus, compute, stages)

/// The applied settings, read back.
struct Configured {
  static constexpr std::string_view kType = "configured";
  int protocol_version = kControlProtocolVersion;
  host::HostContext host;
  std::string cpus;
  nlohmann::json compute;
  std::string git_state{};  ///< of the stage program (core/version.hpp); empty from an older one
};
template <class Json>
void to_json(Json& json, const Configured& reply) {
  json = {{"protocol_version", reply.protocol_version},
          {"host", reply.host},
          {"cpus", reply.cpus},
          {"compute", reply.compute},
          {"git_state", reply.git_state}};
}
/// Reads only the version from a reply of another protocol version: the rest may look different there.
template <class Json>
void from_json(const Json& json, Configured& reply) {
  json.at("protocol_version").get_to(reply.protocol_version);
  if (reply.protocol_version != kControlProtocolVersion) return;
  json.at("host").get_to(reply.host);
  json.at("cpus").get_to(reply.cpus);
  reply.compute = json.at("compute");
  reply.git_state = json.value("git_state", "");
}

/// Asks for the names of the models that the stage knows.
struct ListModels : NoFields {
  static constexpr std::string_view kType = "list_models";
};

struct ModelList {
  static constexpr std::string_view kType = "model_list";
  std::vector<std::string> models;
};
PARETOPIPE_JSON(ModelList, models)

/// Asks for one model at one batch size.
struct Describe {
  static constexpr std::string_view kType = "describe";
  ModelRequest model;
};
PARETOPIPE_JSON(Describe, model)

struct Described {
  static constexpr std::string_view kType = "described";
  experiment::ModelDescription description;
};
PARETOPIPE_JSON(Described, description)

/// Asks what would spoil or prevent a measurement on the stage's machine.
struct CheckHealth : NoFields {
  static constexpr std::string_view kType = "check_health";
};

struct Health {
  static constexpr std::string_view kType = "health";
  std::vector<host::Finding> findings;
  host::ThermalState thermal{};
  host::WallClock wall_clock{};
};
PARETOPIPE_JSON(Health, findings, thermal, wall_clock)

/// Makes blocks ready. The driver must have the model's description.
struct Load {
  static constexpr std::string_view kType = "load";
  ModelRequest model;
  experiment::BlockRange blocks;
  bool alone = false;  ///< first releases all other blocks, which are otherwise kept
};
PARETOPIPE_JSON(Load, model, blocks, alone)

struct Loaded {
  static constexpr std::string_view kType = "loaded";
  std::int64_t held_parameter_bytes = 0;
};
PARETOPIPE_JSON(Loaded, held_parameter_bytes)

/// The input and output of a model, for one micro-batch.
struct Ends {
  wire::TensorSpec input;
  wire::TensorSpec result;

  bool operator==(const Ends&) const = default;
};
PARETOPIPE_JSON(Ends, input, result)

/// Asks for the unsplit model's outputs on the inputs of the coming trials; loads the whole model for that. The inputs
/// are those of whole batches, cut into micro-batches of `model.batch` images each, and the unsplit model computes
/// these micro-batches. So the expected result of a micro-batch does not depend on how a library computes a larger
/// batch. The reply is followed by one tensor frame for each micro-batch, with tag 0 and numbered from 0, and
/// then by as many with the inputs if these are wanted, too.
struct ComputeReferences {
  static constexpr std::string_view kType = "compute_references";
  ModelRequest model;
  int block_count = 0;
  int distinct_inputs = 1;  ///< batches
  int micro_batches = 1;    ///< in a batch
  bool with_inputs = false;
};
PARETOPIPE_JSON(ComputeReferences, model, block_count, distinct_inputs, micro_batches, with_inputs)

struct ReferencesFollow {
  static constexpr std::string_view kType = "references_follow";
  Ends ends;
  UnsplitFidelity against_eager;     ///< of no images if the request is eager
  std::vector<std::int64_t> labels;  ///< of the inputs, if these follow: Backend::make_labels
};
PARETOPIPE_JSON(ReferencesFollow, ends, against_eager, labels)

/// Makes this stage the source, which compares the results with the unsplit model's outputs. The outputs follow this
/// request, in the same frames as after the reply to ComputeReferences. A source on another machine may lack the data,
/// so it gets its inputs and labels in the same way. Any other source makes the same ones itself.
struct TakeReferences {
  static constexpr std::string_view kType = "take_references";
  ModelRequest model;
  int distinct_inputs = 1;
  int micro_batches = 1;
  Ends ends;                           ///< of each frame
  bool with_inputs = false;            ///< they follow the outputs
  std::vector<std::int64_t> labels{};  ///< of inputs that follow
};
PARETOPIPE_JSON(TakeReferences, model, distinct_inputs, micro_batches, ends, with_inputs, labels)

struct ReferencesTaken : NoFields {
  static constexpr std::string_view kType = "references_taken";
};

/// Prepares these blocks for the runs that follow, with micro-batches of these tensors. Nothing of this is timed.
struct Prepare {
  static constexpr std::string_view kType = "prepare";
  experiment::BlockRange blocks;
  Boundary incoming;
};
PARETOPIPE_JSON(Prepare, blocks, incoming)

struct Prepared {
  static constexpr std::string_view kType = "prepared";
  std::optional<Preparation> preparation;  ///< nothing if there was nothing to do
};
PARETOPIPE_JSON(Prepared, preparation)

/// Asks for the time of some runs of consecutive blocks that begin with the same one (time_runs.hpp). Loads the whole
/// model for that.
struct TimeRuns {
  static constexpr std::string_view kType = "time_runs";
  ModelRequest model;
  int block_count = 0;
  int begin = 0;
  std::vector<int> ends;  ///< of each run, not included in it; ascending
  int rounds = 1;
  bool prepared = false;       ///< prepare each run first, as for trials in optimized mode
  std::int64_t least_ns = 0;   ///< more rounds of a run until all together took this long, at most ten seconds
  std::int64_t enough_ns = 0;  ///< leave out the runs after one whose rounds all took longer; 0: time all
};
PARETOPIPE_JSON(TimeRuns, model, block_count, begin, ends, rounds, prepared, least_ns, enough_ns)

struct RunTime {
  int end = 0;
  std::vector<std::int64_t> compute_ns{};      ///< of each round, with encode
  std::optional<std::int64_t> memory_bytes{};  ///< that a stage of these blocks needs; nothing if it is not counted
};
PARETOPIPE_JSON(RunTime, end, compute_ns, memory_bytes)

struct RunTimes {
  static constexpr std::string_view kType = "run_times";
  std::vector<RunTime> runs;  ///< in the order of the request, of which the last ones may be left out
};
PARETOPIPE_JSON(RunTimes, runs)

/// Asks how long codecs take for what crosses one cut (time_runs.hpp). Loads the whole model for that.
struct TimeCodecs {
  static constexpr std::string_view kType = "time_codecs";
  ModelRequest model;
  int block_count = 0;
  int cut = 0;  ///< the number of blocks before it
  std::vector<codec::Codec> codecs;
  int rounds = 1;
};
PARETOPIPE_JSON(TimeCodecs, model, block_count, cut, codecs, rounds)

struct CodecTime {
  std::int64_t payload_bytes = 0;         ///< of all tensors that cross the cut, encoded
  std::vector<std::int64_t> encode_ns{};  ///< of each round
  std::vector<std::int64_t> decode_ns{};
};
PARETOPIPE_JSON(CodecTime, payload_bytes, encode_ns, decode_ns)

struct CodecTimes {
  static constexpr std::string_view kType = "codec_times";
  std::vector<CodecTime> codecs;  ///< in the order of the request
};
PARETOPIPE_JSON(CodecTimes, codecs)

/// Runs a SingleStream phase and then an Offline phase, or one of them, or a Server phase alone, each of `warmup` and
/// then `batches` batches. A batch travels as `micro_batches` micro-batches, numbered from 0 through all phases, and a
/// micro-batch as one frame for each tensor of `incoming` (crossing.hpp). Goes to all stages that take part; they then
/// talk only to each other until they report.
///
/// With several devices, every stage has the whole model and the source deals the batches out (core/timeline.hpp): to
/// itself, device 0, and to the others over the links that each shares with it. Any other device is then the second
/// stage of a pipeline of two, whose phases are its shares of the source's.
struct Run {
  static constexpr std::string_view kType = "run";
  std::uint32_t tag = 0;  ///< of this trial; frames with another tag are refused
  int stage_count = 1;    ///< stages that take part; 1: nothing crosses a link
  experiment::BlockRange blocks;
  Boundary incoming;  ///< a micro-batch from the previous stage (at the source: one of results); ignored when alone
  codec::Codec incoming_codec{};  ///< of these tensors
  codec::Codec outgoing_codec{};  ///< of what goes to the next stage
  int warmup = 0;
  int batches = 1;
  int depth = 1;          ///< batches in flight in the Offline phase, and at most in a Server phase
  int micro_batches = 1;  ///< in a batch
  experiment::Phases phases = experiment::Phases::both;  ///< ignored in a Server phase
  bool server = false;
  std::vector<std::int64_t> arrivals{};  ///< of a Server phase, for the source only: when each batch arrives,
                                         ///< ascending, in nanoseconds since the phase's beginning
  int devices = 1;                       ///< devices that batches are dealt out to; 1: a pipeline
  int device = 0;                        ///< index of this stage among them

  /// How the source deals the batches out.
  Deal deal() const { return {static_cast<std::size_t>(devices), static_cast<std::size_t>(phase_batches())}; }
  int phase_count() const { return server ? 1 : experiment::count(phases); }
  int phase_batches() const { return warmup + batches; }
  int total_batches() const { return phase_count() * phase_batches(); }
  std::size_t phase_micro_batches() const {
    return static_cast<std::size_t>(phase_batches()) * micro_batches_of_batch();
  }
  std::size_t total_micro_batches() const { return static_cast<std::size_t>(phase_count()) * phase_micro_batches(); }
  std::size_t micro_batches_in_flight() const { return static_cast<std::size_t>(depth) * micro_batches_of_batch(); }
  std::size_t micro_batches_of_batch() const { return static_cast<std::size_t>(micro_batches); }
};
PARETOPIPE_JSON(Run, tag, stage_count, blocks, incoming, incoming_codec, outgoing_codec, warmup, batches, depth,
                micro_batches, phases, server, arrivals, devices, device)

/// The moments that one stage saw, as absolute times of its own steady clock. A skipped phase has none.
struct RunReport {
  static constexpr std::string_view kType = "run_report";
  StageTimeline single_stream;
  StageTimeline offline;
  ResultTimeline single_stream_results;  ///< only from the source
  ResultTimeline offline_results;        ///< only from the source
  ServerTimeline server;                 ///< only from the source
  double max_abs_difference = 0;         ///< only from the source
  double mean_abs_difference = 0;        ///< only from the source
  double top1_agreement = 1;             ///< only from the source
  double largest_output = 0;             ///< largest magnitude of the unsplit model's outputs; only from the source
  Accuracy accuracy;                     ///< only from the source; of no images without labels
  host::ProcessUsage usage;
  std::int64_t peak_rss_bytes = 0;  ///< 0 if unreadable
  std::int64_t held_parameter_bytes = 0;
  std::int64_t encoded_bytes = 0;  ///< that a codec made of all that went to the next stage; 0 without one
  host::StageMemory memory;        ///< nothing if the backend does not count it
  host::HostState state;
  host::CpuConditions conditions;
  host::GpuUsage gpu;  ///< of no samples on a CPU or if it cannot be read
};
PARETOPIPE_JSON(RunReport, single_stream, offline, single_stream_results, offline_results, server, max_abs_difference,
                mean_abs_difference, top1_agreement, largest_output, accuracy, usage, peak_rss_bytes,
                held_parameter_bytes, encoded_bytes, memory, state, conditions, gpu)

/// Asks the source for the result of the last batch of the last run. The reply is followed by one tensor frame for each
/// micro-batch of the batch, with the run's tag and numbered from 0.
struct FetchResult {
  static constexpr std::string_view kType = "fetch_result";
  std::uint32_t tag = 0;  ///< of that run
};
PARETOPIPE_JSON(FetchResult, tag)

struct ResultFollows : NoFields {
  static constexpr std::string_view kType = "result_follows";
};

/// One exchange of RFC 5905's four timestamps. The driver has the outer two.
struct ClockProbe : NoFields {
  static constexpr std::string_view kType = "clock_probe";
};

struct ClockReading {
  static constexpr std::string_view kType = "clock_reading";
  std::int64_t received_at_ns = 0;
  std::int64_t sent_at_ns = 0;
};
PARETOPIPE_JSON(ClockReading, received_at_ns, sent_at_ns)

}  // namespace paretopipe::stage
