#include <paretopipe/launch/launcher.hpp>
#include <paretopipe/run/pipeline.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

namespace paretopipe::run {

namespace {

/// The link's name. Its two ends prove it along with the key, so that no stage can be led to another's port.
std::string link_name(int device, int from, int to) {
  const auto which = device == 0                      ? ""
                     : device == stage::kBackwardRing ? " (gradients)"
                                                      : fmt::format(" (device {})", device);
  return fmt::format("stage {} to stage {}{}", from, to, which);
}

}  // namespace

WaitLimits Pipeline::limits(Nanoseconds busy) const {
  return {Clock::now() + busy + std::chrono::seconds(options_.timeout_s), options_.interrupt_descriptor,
          configured_.empty() ? nullptr : &options_.watching, true};  // they are no longer starting
}

/// Asks the first `requests.size()` stages.
template <class Reply, class Request>
std::vector<Reply> Pipeline::ask(const std::vector<Request>& requests, Nanoseconds busy) {
  std::vector<int> stages(requests.size());
  std::iota(stages.begin(), stages.end(), 0);
  return ask_of<Reply>(stages, requests, busy);
}

namespace {

/// SSH logs in within a second, and a Raspberry Pi loads LibTorch within ten.
constexpr auto kTimeToStart = std::chrono::seconds(60);

StageCommand command_for(const PipelineOptions& options, std::size_t stage) {
  auto command = options.command;
  if (options.on.empty()) return command;
  const auto& device = options.on[stage];
  command.name = fmt::format("stage {} on {}", stage, device.name);
  if (device.local()) return command;
  command.launcher =
      launch::command_over(launcher_of(device), launch::guard_command(device.program, options.program_sha256));
  return command;
}

}  // namespace

Pipeline::Pipeline(const PipelineOptions& options, shaping::Network& network, const EmulatedDevices& devices)
    : options_(options), network_(network), copies_([this] { return limits(); }, options.watching.notice) {
  std::vector<stage::Configure> requests;
  for (std::size_t i = 0; i < options.cpus.size(); ++i) {
    const int index = static_cast<int>(i);
    auto command = command_for(options, i);
    command.namespaces = network.namespaces(index);
    command.environment.emplace_back("OMP_NUM_THREADS", std::to_string(options.compute[i].threads));
    command.cgroups = devices.cgroups(index);
    command.cause_of_death = [&devices, index] { return devices.cause_of_death(index); };
    stages_.emplace_back(index, command);
    requests.push_back({index, options.cpus[i], options.compute[i], static_cast<int>(options.cpus.size())});
  }
  meet_guards();
  configured_ = ask<stage::Configured>(requests);
  for (std::size_t i = 0; i < configured_.size(); ++i) {
    if (configured_[i].protocol_version == stage::kControlProtocolVersion) continue;
    throw EnvironmentError(fmt::format(
        "{}{} speaks version {} of the control protocol, this driver version {}; install both from one release, and "
        "measure each of two such releases by a sweep with its own driver",
        stages_[i].name(), stages_[i].guard() ? "" : fmt::format(" ({})", options.command.program.string()),
        configured_[i].protocol_version, stage::kControlProtocolVersion));
  }
  if (stage_count() == 1) return;
  std::vector<int> ring(stages_.size());
  std::iota(ring.begin(), ring.end(), 0);
  join(ring, 0);
}

/// The guards start at the same time, so they have one deadline.
void Pipeline::meet_guards() {
  const auto deadline = std::min(Clock::now() + kTimeToStart, limits().deadline);
  for (auto& stage : stages_) stage.meet(deadline, options_.interrupt_descriptor);
}

bool Pipeline::intact() {
  return std::none_of(stages_.begin(), stages_.end(), [](StageClient& stage) { return stage.ended(); });
}

ReachedDevice Pipeline::reached(int stage) const {
  const auto index = static_cast<std::size_t>(stage);
  const auto& guard = stages_[index].guard();
  return {options_.on[index], guard ? guard->ssh_connection : ""};
}

stage::Listen Pipeline::listener_for(int from, int to) const {
  if (options_.on.empty()) return {network_.address(from, to), 0, 0};
  const auto& device = options_.on[static_cast<std::size_t>(to)];
  return {data_address(reached(from), reached(to)), device.first_port, device.last_port};
}

shaping::Endpoint Pipeline::endpoint_of(int from, int to, std::uint16_t port) {
  if (options_.on.empty()) return network_.route(from, to, port);
  return {data_address(reached(from), reached(to)), port};
}

/// A lease shapes its interface only for the ports of the links, so a probe uses its link's port.
stage::Listen Pipeline::listener_for_probe(int from, int to) const {
  auto listener = listener_for(from, to);
  if (options_.shaping != experiment::Shaping::netem || options_.on.empty()) return listener;
  const auto link = links_between_devices_.find({from, to});
  if (link != links_between_devices_.end()) {
    listener.first_port = listener.last_port = link->second.front().port;
  }
  return listener;
}

/// Stages on one device have no network between them.
bool Pipeline::between_devices(int from, int to) const {
  return !options_.on.empty() && experiment::way_between(options_.placement, from, to) != experiment::Way::within;
}

bool Pipeline::through_relay(int from, int to) const {
  return options_.shaping == experiment::Shaping::emulated && between_devices(from, to);
}

/// A stage says why it refuses, but does not know its own name: the error becomes "NAME cannot WHAT: REASON ADVICE".
template <class Reply, class Request>
std::vector<Reply> Pipeline::ask_by_name(const std::vector<int>& stages, const std::vector<Request>& requests,
                                         const char* what, const char* advice) {
  try {
    return ask_of<Reply>(stages, requests);
  } catch (const StageError& error) {
    if (error.kind() != StageError::Kind::refused || !error.stage()) throw;
    const auto& name = stages_.at(static_cast<std::size_t>(*error.stage())).name();
    throw StageError(error.stage(), error.kind(), error.code(),
                     fmt::format("{} cannot {}: {}{}", name, what, error.what(), advice));
  }
}

std::vector<stage::RelayOpened> Pipeline::open_relays(const std::vector<int>& senders,
                                                      const std::vector<stage::OpenRelay>& requests) {
  return ask_by_name<stage::RelayOpened>(senders, requests, "emulate the network of its links", "");
}

std::vector<stage::Listening> Pipeline::listen(const std::vector<int>& stages,
                                               const std::vector<stage::Listen>& listeners) {
  return ask_by_name<stage::Listening>(stages, listeners, "listen for the stage before it", advice_on_addresses());
}

stage::InterfaceLeased Pipeline::lease_interface(int stage, const stage::LeaseInterface& request) {
  return ask_by_name<stage::InterfaceLeased>({stage}, std::vector{request}, "shape its interface", "").front();
}

const char* Pipeline::advice_on_addresses() const {
  return options_.on.empty() ? "" : "; a device's \"address\" and \"ports\" are in the devices file";
}

/// The endpoint that each stage of the ring has to connect to in order to reach the next one.
std::vector<shaping::Endpoint> Pipeline::ways_round(const std::vector<int>& ring,
                                                    const std::vector<stage::Listening>& ports) {
  std::vector<shaping::Endpoint> ways;
  std::vector<std::size_t> places;
  std::vector<int> senders;
  std::vector<stage::OpenRelay> requests;
  for (std::size_t place = 0; place < ring.size(); ++place) {
    const auto next = (place + 1) % ring.size();
    const auto& way = ways.emplace_back(endpoint_of(ring[place], ring[next], ports[next].port));
    if (between_devices(ring[place], ring[next])) links_between_devices_[{ring[place], ring[next]}].push_back(way);
    if (!through_relay(ring[place], ring[next])) continue;
    places.push_back(place);
    senders.push_back(ring[place]);
    requests.push_back({ring[next], way.host, way.port});
  }
  const auto relays = open_relays(senders, requests);
  for (std::size_t i = 0; i < relays.size(); ++i) ways[places[i]] = {relays[i].host, relays[i].port};
  return ways;
}

namespace {

/// A handshake crosses the link both ways, and each may be delayed by as much as a profile can ask for.
constexpr int kTimeToConnect_s = 60;

}  // namespace

stage::LinkProbed Pipeline::probe_link(int from, int to, const stage::ProbeExtent& extent) {
  const auto key = wire::random_key();
  const auto port = listen({to}, {listener_for_probe(from, to)}).front().port;
  auto way = endpoint_of(from, to, port);
  if (through_relay(from, to)) {
    const auto relay = open_relays({from}, {{to, way.host, way.port}}).front();
    way = {relay.host, relay.port};
  }
  auto& listening = stages_.at(static_cast<std::size_t>(to));
  auto& connecting = stages_.at(static_cast<std::size_t>(from));
  listening.send(stage::AnswerProbe{key, kTimeToConnect_s, extent});
  connecting.send(stage::ProbeLink{way.host, way.port, key, kTimeToConnect_s, extent});
  stage::LinkProbed probed;
  for_each_reply({&connecting, &listening}, limits(), [&](StageClient& stage) {
    if (&stage == &connecting) {
      probed = stage.receive<stage::LinkProbed>();
    } else {
      stage.receive<stage::ProbeAnswered>();
    }
  });
  return probed;
}

void Pipeline::join(const std::vector<int>& ring, int device) {
  std::vector<stage::Listen> listeners;
  for (std::size_t place = 0; place < ring.size(); ++place) {
    listeners.push_back(listener_for(ring[(place + ring.size() - 1) % ring.size()], ring[place]));
  }
  const auto ways = ways_round(ring, listen(ring, listeners));
  std::vector<stage::Join> requests;
  for (std::size_t place = 0; place < ring.size(); ++place) {
    const auto next = (place + 1) % ring.size();
    const auto previous = (place + ring.size() - 1) % ring.size();
    stage::Join request;
    request.next_host = ways[place].host;
    request.next_port = ways[place].port;
    request.key = key_;
    request.tls = options_.tls;
    request.device = device;
    request.incoming = link_name(device, ring[previous], ring[place]);
    request.outgoing = link_name(device, ring[place], ring[next]);
    requests.push_back(request);
  }
  ask_by_name<stage::Joined>(ring, requests, "connect to the stages beside it", advice_on_addresses());
}

bool Pipeline::join_star() {
  if (has_star_) return false;
  for (int device = 1; device < stage_count(); ++device) join({0, device}, device);
  return has_star_ = true;
}

bool Pipeline::join_backward_ring() {
  if (has_backward_ring_ || stage_count() < 3) return false;
  std::vector<int> ring(static_cast<std::size_t>(stage_count()));
  std::iota(ring.rbegin(), ring.rend(), 0);
  join(ring, stage::kBackwardRing);
  return has_backward_ring_ = true;
}

/// Gloo listens at one address of a replica for all others, at whatever port the system gives it.
std::string Pipeline::replica_address(int stage, int count) const {
  if (options_.on.empty()) return network_.address(stage == 0 ? 1 : 0, stage);
  const auto& device = options_.on[static_cast<std::size_t>(stage)];
  if (device.first_port != 0) {
    throw UsageError(
        fmt::format("the baseline data-parallel adds up gradients over connections of Gloo, which cannot keep to the "
                    "ports that the devices file allows {}; leave its ports or the baseline out",
                    device.name));
  }
  std::set<std::string> addresses;
  for (int other = 0; other < count; ++other) {
    if (other != stage) addresses.insert(data_address(reached(other), reached(stage)));
  }
  if (addresses.size() == 1) return *addresses.begin();
  throw UsageError(
      fmt::format("the baseline data-parallel needs one address of {} for all other devices, which reach "
                  "it at {}; write one into the devices file (\"address\")",
                  device.name, fmt::join(addresses, " and ")));
}

void Pipeline::join_replicas(int count) {
  if (has_replicas_) return;
  std::vector<int> replicas(static_cast<std::size_t>(count));
  std::iota(replicas.begin(), replicas.end(), 0);
  std::vector<stage::OpenReplicas> openings;
  for (const int stage : replicas) {
    openings.push_back({{stage, count, replica_address(stage, count), options_.timeout_s}});
  }
  auto writes = ask_of<stage::StoreWrites>(replicas, openings);
  const auto connected = [](const stage::StoreWrites& one) { return one.connected; };
  while (!std::all_of(writes.begin(), writes.end(), connected)) {
    std::vector<int> waiting;
    std::vector<stage::TakeStoreWrites> requests;
    for (std::size_t stage = 0; stage < writes.size(); ++stage) {
      if (writes[stage].connected) continue;
      waiting.push_back(static_cast<int>(stage));
      auto& entries = requests.emplace_back().entries;
      for (std::size_t other = 0; other < writes.size(); ++other) {
        if (other != stage) entries.insert(writes[other].entries.begin(), writes[other].entries.end());
      }
    }
    for (auto& write : writes) write.entries.clear();
    auto further = ask_of<stage::StoreWrites>(waiting, requests);
    for (std::size_t i = 0; i < waiting.size(); ++i)
      writes[static_cast<std::size_t>(waiting[i])] = std::move(further[i]);
  }
  has_replicas_ = true;
}

const std::string& Pipeline::place_file(int stage, const std::string& sha256, const std::filesystem::path& file) {
  return copies_.place(stages_.at(static_cast<std::size_t>(stage)), sha256, file);
}

std::string Pipeline::place_files(int stage, const std::vector<std::filesystem::path>& files) {
  return copies_.place_together(stages_.at(static_cast<std::size_t>(stage)), files);
}

void Pipeline::load(const std::vector<stage::Load>& requests) {
  ask<stage::Loaded>(requests);
}

void Pipeline::take_references(const stage::TakeReferences& request, const std::vector<std::vector<std::byte>>& outputs,
                               const std::vector<std::vector<std::byte>>& inputs) {
  auto& source = stages_.front();
  source.send_within(limits(), [&] {
    source.send(request);
    std::uint64_t sequence = 0;
    for (const auto& output : outputs) source.send_tensor(0, sequence++, request.ends.result, output);
    for (const auto& input : inputs) source.send_tensor(0, sequence++, request.ends.input, input);
  });
  wait_for_reply<stage::ReferencesTaken>(source, limits());
}

std::vector<stage::Prepared> Pipeline::prepare(const std::vector<stage::Prepare>& requests) {
  return ask<stage::Prepared>(requests);
}

stage::RunTimes Pipeline::time_runs(int stage, const stage::TimeRuns& request) {
  return ask_one<stage::RunTimes>(stage, request);
}

stage::CodecTimes Pipeline::time_codecs(int stage, const stage::TimeCodecs& request) {
  return ask_one<stage::CodecTimes>(stage, request);
}

std::vector<stage::RunReport> Pipeline::run(const std::vector<stage::Run>& requests) {
  const auto& schedule = requests.front().arrivals;
  return ask<stage::RunReport>(requests, Nanoseconds(schedule.empty() ? 0 : schedule.back()));
}

void Pipeline::prepare_training(const std::vector<stage::PrepareTraining>& requests,
                                const std::vector<std::vector<std::byte>>& inputs) {
  std::vector<StageClient*> asked;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto& stage = stages_[i];
    const auto& given = requests[i].given;
    stage.send_within(limits(), [&] {
      stage.send(requests[i]);
      for (std::size_t k = 0; k < static_cast<std::size_t>(given.inputs); ++k) {
        stage.send_tensor(0, k, given.input, inputs.at(k));
      }
    });
    asked.push_back(&stage);
  }
  for_each_reply(asked, limits(), [](StageClient& stage) { stage.receive<stage::TrainingPrepared>(); });
}

std::vector<stage::TrainReport> Pipeline::train(const std::vector<stage::Train>& requests) {
  return ask<stage::TrainReport>(requests);
}

std::int64_t Pipeline::count_labels(const stage::ModelRequest& model) {
  return ask_one<stage::LabelsCounted>(0, stage::CountLabels{model}).count;
}

void Pipeline::take_training_data(const std::vector<int>& stages, const std::vector<stage::TakeTrainingData>& tasks) {
  ask_of<stage::TrainingPrepared>(stages, tasks);
}

std::vector<TrainedTensor> Pipeline::fetch_weights(int stages) {
  std::vector<TrainedTensor> weights;
  for (int stage = 0; stage < stages; ++stage) {
    const auto reply = ask_one<stage::WeightsFollow>(stage, stage::FetchWeights{});
    auto& client = stages_[static_cast<std::size_t>(stage)];
    client.receive_within(limits(), [&] {
      for (std::size_t i = 0; i < std::min(reply.names.size(), reply.specs.size()); ++i) {
        auto& tensor = weights.emplace_back(TrainedTensor{reply.names[i], reply.specs[i], {}});
        if (std::ranges::count(tensor.spec.shape, 0) > 0) continue;  // no frame carries a tensor without values
        tensor.bytes.resize(static_cast<std::size_t>(wire::byte_size(tensor.spec)));
        client.receive_tensor(0, i, tensor.spec, tensor.bytes);
      }
    });
  }
  return weights;
}

std::vector<std::byte> Pipeline::fetch_result(std::uint32_t tag, const wire::TensorSpec& micro_batch,
                                              int micro_batches) {
  ask_one<stage::ResultFollows>(0, stage::FetchResult{tag});
  const auto bytes = static_cast<std::size_t>(wire::byte_size(micro_batch));
  std::vector<std::byte> result(bytes * static_cast<std::size_t>(micro_batches));
  stages_.front().receive_within(limits(), [&] {
    for (std::size_t i = 0; i < static_cast<std::size_t>(micro_batches); ++i) {
      stages_.front().receive_tensor(tag, i, micro_batch, std::span(result).subspan(i * bytes, bytes));
    }
  });
  return result;
}

}  // namespace paretopipe::run
