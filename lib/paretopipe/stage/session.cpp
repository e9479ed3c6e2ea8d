#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/host/control_groups.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/host/observe.hpp>
#include <paretopipe/stage/dealer.hpp>
#include <paretopipe/stage/file_cache.hpp>
#include <paretopipe/stage/front_desk.hpp>
#include <paretopipe/stage/interface_lease.hpp>
#include <paretopipe/stage/link_probe.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/progress.hpp>
#include <paretopipe/stage/references.hpp>
#include <paretopipe/stage/relays.hpp>
#include <paretopipe/stage/session.hpp>
#include <paretopipe/stage/stage_loops.hpp>
#include <paretopipe/stage/time_runs.hpp>
#include <paretopipe/stage/training_memory.hpp>
#include <paretopipe/stage/training_reference.hpp>
#include <paretopipe/stage/training_run.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace paretopipe::stage {

namespace {

/// All stages together may fill one part in so many of a process's usable memory with graphs kept for later trials. The
/// rest is for blocks, activations and other processes.
constexpr std::int64_t kShareOfMemory = 4;

std::int64_t memory_for_graphs(const Configure& request) {
  if (request.stages < 1) {
    throw wire::ProtocolError(fmt::format("the driver configured one of {} stages", request.stages));
  }
  return host::usable_memory_bytes() / kShareOfMemory / request.stages;
}

/// The answer to one request: a message and the tensors that follow it.
struct Reply {
  Reply(nlohmann::json reply, std::vector<Activation> followed_by = {}, std::uint32_t tag_of_tensors = 0)
      : message(std::move(reply)), tensors(std::move(followed_by)), tag(tag_of_tensors) {}

  nlohmann::json message;
  std::vector<Activation> tensors;
  std::uint32_t tag;
};

/// One handler for each request. The members hold what one request leaves for the next.
class Session {
 public:
  Session(Backend& backend, Progress& progress, JoinReplicas join_replicas)
      : backend_(backend), progress_(progress), join_replicas_(std::move(join_replicas)) {}

  Reply answer(FrontDesk::Request received) {
    try {
      return handle(std::move(received));
    } catch (const ProcessLost&) {
      throw;
    } catch (const Error&) {
      if (relays_) relays_->last_problem();  // throws if they have ended, and a link with them
      throw;
    }
  }

 private:
  Reply handle(FrontDesk::Request received) {
    const auto& request = received.message;
    if (unwrap<ClockProbe>(request)) return wrap(ClockReading{received.received_at_ns, now_ns()});
    if (const auto message = unwrap<Configure>(request)) return wrap(configure(*message));
    if (unwrap<ListModels>(request)) return wrap(ModelList{backend_.models()});
    if (const auto message = unwrap<Describe>(request)) return wrap(Described{backend_.describe(message->model)});
    if (const auto message = unwrap<Listen>(request)) return wrap(listen(*message));
    if (const auto message = unwrap<Join>(request)) return wrap(join(*message));
    if (const auto message = unwrap<FindFile>(request)) return wrap(FileFound{files().find(message->sha256).string()});
    if (const auto message = unwrap<FindFolder>(request)) return wrap(files().find_folder(*message));
    if (const auto message = unwrap<TakeChunk>(request)) return wrap(take_chunk(*message, received.tensors));
    if (const auto message = unwrap<ProbeLink>(request)) return wrap(probe_link(*message));
    if (const auto message = unwrap<AnswerProbe>(request)) return wrap(answer_probe(*message));
    if (is_for_relays(request)) return ask_relays(request);
    if (const auto message = unwrap<LeaseInterface>(request)) return wrap(lease_.take(*message));
    if (unwrap<ReadLease>(request)) return wrap(lease_.read());
    if (unwrap<CheckHealth>(request)) return wrap(check_health());
    if (const auto message = unwrap<Load>(request)) return wrap(load(*message));
    if (const auto message = unwrap<ComputeReferences>(request)) return compute_references(*message);
    if (const auto message = unwrap<TakeReferences>(request)) {
      return wrap(take_references(*message, std::move(received.tensors)));
    }
    if (const auto message = unwrap<TimeRuns>(request)) return wrap(time_runs(*message, backend_));
    if (const auto message = unwrap<TimeCodecs>(request)) return wrap(time_codecs(*message, backend_));
    if (const auto message = unwrap<Prepare>(request)) return wrap(prepare(*message));
    if (const auto message = unwrap<Run>(request)) return wrap(run(*message));
    if (const auto message = unwrap<FetchResult>(request)) return fetch_result(*message);
    if (const auto message = unwrap<ComputeTrainingReference>(request)) {
      return wrap(compute_training_reference(*message, backend_));
    }
    if (const auto message = unwrap<MeasureTraining>(request)) return wrap(measure_training(*message, backend_));
    if (const auto message = unwrap<PrepareTraining>(request)) {
      return wrap(prepare_training(*message, std::move(received.tensors)));
    }
    if (const auto message = unwrap<MakeTrainingData>(request)) return make_training_data(*message);
    if (const auto message = unwrap<Train>(request)) return wrap(train(*message));
    if (const auto message = unwrap<OpenReplicas>(request)) return wrap(open_replicas(*message));
    if (const auto message = unwrap<TakeStoreWrites>(request)) return wrap(go_on(message->entries));
    if (const auto message = unwrap<CountLabels>(request)) return wrap(count_labels(*message));
    if (const auto message = unwrap<TakeTrainingData>(request)) return wrap(take_training_data(*message));
    if (unwrap<FetchWeights>(request)) return fetch_weights();
    throw wire::ProtocolError(
        fmt::format("the driver sent a request that this stage does not know: {}", request.dump().substr(0, 80)));
  }

  Configured configure(const Configure& request) {
    if (!request.cpus.empty()) host::set_affinity(host::parse_cpu_list(request.cpus));
    progress_.configure(request.stage);
    Configured reply;
    reply.compute = backend_.configure(request.compute);
    backend_.keep_prepared(memory_for_graphs(request));
    reply.host = host::read_host_context();
    reply.cpus = host::to_string(host::current_affinity());
    reply.git_state = git_state();
    return reply;
  }

  Listening listen(const Listen& request) {
    listener_.emplace(request.address, wire::PortRange{request.first_port, request.last_port});
    return {listener_->port()};
  }

  Joined join(const Join& request) {
    if (!listener_) throw wire::ProtocolError("the driver sent join before listen");
    const auto deadline = Clock::now() + std::chrono::seconds(request.timeout_s);
    auto listener = *std::exchange(listener_, std::nullopt);  // the port closes, however this ends
    links_.erase(request.device);
    const wire::RingPlace place{{request.key, request.tls, request.incoming},
                                request.next_host,
                                request.next_port,
                                {request.key, request.tls, request.outgoing}};
    try {
      links_.try_emplace(request.device, wire::join_ring(listener, place, deadline));
    } catch (const Error& error) {
      throw Error(error.code(), error.what() + problem_of_relays());
    }
    return {};
  }

  nlohmann::json ask_relays(const nlohmann::json& request) {
    if (!relays_) {
      if (!holds<OpenRelay>(request)) throw wire::ProtocolError("the driver sent another request before open_relay");
      relays_.emplace(unbound_);
    }
    return relays_->ask(request);
  }

  /// A connection through a relay fails at the stage's end of it; the reason is at the other.
  std::string problem_of_relays() {
    const auto problem = relays_ ? relays_->last_problem() : std::string();
    return problem.empty() ? "" : "; " + problem;
  }

  /// Opened when first needed: a login without a cache folder matters only where files are needed.
  FileCache& files() {
    if (!files_) files_.emplace(users_file_cache());
    return *files_;
  }

  ChunkTaken take_chunk(const TakeChunk& request, const std::vector<Activation>& tensors) {
    const auto bytes = tensors.empty() ? std::span<std::byte>() : tensors.front().bytes;
    return {files().take(request, bytes).string()};
  }

  ProbeAnswered answer_probe(const AnswerProbe& request) {
    if (!listener_) throw wire::ProtocolError("the driver sent answer_probe before listen");
    auto listener = *std::exchange(listener_, std::nullopt);
    stage::answer_probe(listener, request);
    return {};
  }

  static Health check_health() {
    std::error_code unknown;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
    const auto seen = host::observe(unknown ? std::nullopt : std::optional(program));
    return {host::judge(seen), seen.thermal, host::read_wall_clock()};
  }

  Loaded load(const Load& request) {
    last_batch_.clear();
    training_.reset();
    if (request.alone) backend_.keep_only(request.blocks);
    backend_.load(request.model, request.blocks);
    return {backend_.held_parameter_bytes()};
  }

  Reply compute_references(const ComputeReferences& request) {
    auto computed = stage::compute_references(request, backend_);
    return {wrap(computed.reply), std::move(computed.tensors)};
  }

  ReferencesTaken take_references(const TakeReferences& request, std::vector<Activation> tensors) {
    references_.reset();
    references_ = stage::take_references(request, std::move(tensors), backend_);
    return {};
  }

  Prepared prepare(const Prepare& request) {
    check_incoming(request.incoming, references_.has_value());
    return {backend_.prepare(request.blocks, request.incoming)};
  }

  RunReport run(const Run& request) {
    const auto* references = references_ ? &*references_ : nullptr;
    check_run(request, references != nullptr);
    last_batch_.clear();
    auto outcome = request.devices > 1 && references != nullptr
                       ? run_dealer(request, backend_, neighbours_of_dealer(request.devices), *references, &progress_)
                       : run_pipeline(request, backend_, neighbours_of(request), references, &progress_);
    last_batch_ = std::move(outcome.last_batch);
    return std::move(outcome.report);
  }

  Reply make_training_data(const MakeTrainingData& request) {
    const TrainingData data(request.task, true, true, backend_);
    const auto& inputs = data.inputs();
    return {wrap(TrainingDataFollow{inputs.front().spec, static_cast<int>(inputs.size()), data.labels()}), inputs};
  }

  TrainingPrepared prepare_training(const PrepareTraining& request, std::vector<Activation> inputs) {
    last_batch_.clear();
    references_.reset();
    training_.reset();
    training_ = stage::prepare_training(request, std::move(inputs), backend_);
    return {};
  }

  /// After a failed run there is nothing to go on with.
  TrainReport train(const Train& request) {
    if (!training_) throw wire::ProtocolError("the driver sent train before prepare_training");
    auto stage = *std::exchange(training_, std::nullopt);
    auto replicas = stage.asked.task.replicas > 1 ? std::exchange(replicas_, nullptr) : nullptr;
    auto report = run_training(request, stage, backend_, training_links(stage), &progress_, replicas.get());
    if (replicas) replicas_ = std::move(replicas);
    training_ = std::move(stage);
    return report;
  }

  StoreWrites open_replicas(const OpenReplicas& request) {
    if (!join_replicas_) throw EnvironmentError("this stage program cannot connect replicas");
    replicas_.reset();
    meeting_.emplace(join_replicas_, request.place);
    return go_on({});
  }

  StoreWrites go_on(const StoreEntries& of_others) {
    if (!meeting_) throw wire::ProtocolError("the driver sent take_store_writes before open_replicas");
    auto writes = meeting_->go_on(of_others);
    if (!writes.connected) return writes;
    replicas_ = meeting_->take();
    meeting_.reset();
    return writes;
  }

  LabelsCounted count_labels(const CountLabels& request) {
    auto one_by_one = request.model;
    one_by_one.batch = 1;
    return {static_cast<std::int64_t>(backend_.make_labels(one_by_one, std::numeric_limits<int>::max()).size())};
  }

  TrainingPrepared take_training_data(const TakeTrainingData& request) {
    if (!training_) throw wire::ProtocolError("the driver sent take_training_data before prepare_training");
    take_data(request, *training_, backend_);
    return {};
  }

  Reply fetch_weights() {
    if (!training_) throw wire::ProtocolError("the driver sent fetch_weights before prepare_training");
    WeightsFollow message;
    std::vector<Activation> tensors;
    for (auto& state : training_->part->state()) {
      message.names.push_back(std::move(state.name));
      message.specs.push_back(state.tensor.spec);
      tensors.push_back(std::move(state.tensor));
    }
    return {wrap(message), std::move(tensors)};
  }

  TrainingLinks training_links(const TrainingStage& stage) {
    const int stages = stage.asked.stage_count;
    if (stages == 1) return {};
    const auto ring = neighbours_over(0);
    const auto back = stages == 2 ? ring : neighbours_over(kBackwardRing);
    TrainingLinks links{ring, back};
    if (stage.first()) links.activations.previous = links.gradients.next = nullptr;
    if (stage.last()) links.activations.next = links.gradients.previous = nullptr;
    return links;
  }

  Neighbours neighbours_over(int device) {
    const auto links = links_.find(device);
    if (links == links_.end()) throw wire::ProtocolError("the driver sent run before join");
    return {&links->second.previous, &links->second.next};
  }

  Neighbours neighbours_of(const Run& request) {
    return request.stage_count == 1 ? Neighbours{} : neighbours_over(request.device);
  }

  /// The neighbours of every device but the source.
  std::vector<Neighbours> neighbours_of_dealer(int devices) {
    std::vector<Neighbours> neighbours;
    for (int device = 1; device < devices; ++device) neighbours.push_back(neighbours_over(device));
    return neighbours;
  }

  Reply fetch_result(const FetchResult& request) {
    if (last_batch_.empty()) {
      throw wire::ProtocolError("the driver asked for the result of a run that this stage has not");
    }
    return {wrap(ResultFollows{}), last_batch_, request.tag};
  }

  Backend& backend_;
  Progress& progress_;
  const host::CpuSet unbound_ = host::current_affinity();  ///< before the stage is bound to its CPUs
  std::optional<RelayProcess> relays_;
  InterfaceLease lease_;
  std::optional<wire::Listener> listener_;
  std::map<int, wire::RingLinks> links_;  ///< at 0 those of the ring, at kBackwardRing of its opposite; otherwise, by
                                          ///< device, between it and the source
  std::optional<FileCache> files_;
  std::optional<ReferenceSet> references_;
  std::vector<Activation> last_batch_;  ///< of the last run
  std::optional<TrainingStage> training_;
  JoinReplicas join_replicas_;
  std::optional<ReplicaMeeting> meeting_;
  std::unique_ptr<AllReduce> replicas_;  ///< once connected
};

}  // namespace

void serve(wire::Link& control, Backend& backend, JoinReplicas join) {
  Progress progress;
  Session session(backend, progress, std::move(join));
  FrontDesk desk(control, progress);
  while (auto request = desk.next()) {
    Reply reply{nullptr};
    try {
      reply = session.answer(std::move(*request));
    } catch (const std::exception& error) {  // the driver judges what to do about a fault
      reply = wrap(fault_of(error));
    }
    desk.reply(reply.message, reply.tag, reply.tensors);
  }
}

}  // namespace paretopipe::stage
