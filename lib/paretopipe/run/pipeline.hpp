#pragma once
#include <paretopipe/run/data_address.hpp>
#include <paretopipe/run/emulated_devices.hpp>
#include <paretopipe/run/file_copies.hpp>
#include <paretopipe/run/stage_client.hpp>
#include <paretopipe/run/train_epochs.hpp>
#include <paretopipe/shaping/network.hpp>
#include <paretopipe/stage/replicas.hpp>
#include <paretopipe/stage/training_messages.hpp>
#include <paretopipe/wire/key.hpp>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace paretopipe::run {

/// Where and how the stages of a pipeline compute.
struct PipelineOptions {
  StageCommand command;
  std::vector<std::string> cpus;               ///< one CPU list per stage; its length is the number of stages
  std::vector<stage::ComputeOptions> compute;  ///< one per stage
  experiment::Placement placement{};
  std::vector<experiment::DeviceProfile> devices{};
  std::vector<experiment::Device> on{};  ///< the device of each stage; empty: all run on this machine
  std::string program_sha256{};          ///< under which a device finds the stage program that was deployed there
  int timeout_s = 600;
  int interrupt_descriptor = -1;
  StallWatching watching{};
  bool tls = false;                                         ///< encrypt what crosses between the stages
  experiment::Shaping shaping = experiment::Shaping::none;  ///< of the links between devices (device_network.hpp)

  bool same_processes(const PipelineOptions& other) const {
    return cpus == other.cpus && placement == other.placement && devices == other.devices && on == other.on &&
           compute == other.compute && command.environment == other.command.environment && tls == other.tls &&
           shaping == other.shaping;
  }
};

/// The running stage processes, joined in a ring: stage 0 → 1 → … → 0. If batches are to be dealt out, they are also
/// joined in a star, in which stage 0 has a link to and from each of the others. They live as long as this object, over
/// many trials. Any StageError makes it useless: destroy it and make a new one. Every call blocks until all stages have
/// answered, and throws Interrupted when a person wants to stop.
class Pipeline {
 public:
  /// The stages communicate over `network` and run on `devices`. Both must outlive this object.
  Pipeline(const PipelineOptions& options, shaping::Network& network, const EmulatedDevices& devices);

  int stage_count() const { return static_cast<int>(stages_.size()); }

  /// False once a stage's process, or what launched it, has ended.
  bool intact();

  /// The settings that each stage reported as applied.
  const std::vector<stage::Configured>& configured() const { return configured_; }

  /// Adds the star if it does not exist yet, and says if it did. The network then has to be applied again.
  bool join_star();

  /// Likewise adds the ring in which gradients travel backwards. Two stages need none: their ring leads both ways.
  bool join_backward_ring();

  /// Connects the first `count` stages as replicas, unless they are connected already. The entries that their library
  /// writes for each other meanwhile travel over the control links.
  void join_replicas(int count);

  /// For each link between devices, by its sending and its receiving stage: the endpoints at which the receiver
  /// listened.
  using LinksBetweenDevices = std::map<std::pair<int, int>, std::vector<shaping::Endpoint>>;
  const LinksBetweenDevices& links_between_devices() const { return links_between_devices_; }

  /// Sends requests[i] to stages[i] and returns their replies in the same order. The stages differ.
  template <class Reply, class Request>
  std::vector<Reply> ask_of(const std::vector<int>& stages, const std::vector<Request>& requests,
                            Nanoseconds busy = {});

  /// The reply of one stage.
  template <class Reply, class Request>
  Reply ask_one(int stage, const Request& request) {
    return std::move(ask_of<Reply>({stage}, std::vector{request}).front());
  }

  /// Makes the kernel of the stage's machine shape an interface. A refusal names the stage.
  stage::InterfaceLeased lease_interface(int stage, const stage::LeaseInterface& request);

  /// The path of a file on the stage's device. The file is of this machine, and is sent unless the device has it. The
  /// answer is remembered. Throws as FileCopies::place does.
  const std::string& place_file(int stage, const std::string& sha256, const std::filesystem::path& file);

  /// The path on the stage's device of a folder with these files. Throws likewise.
  std::string place_files(int stage, const std::vector<std::filesystem::path>& files);

  /// One request per stage.
  void load(const std::vector<stage::Load>& requests);

  /// Makes stage 0 the source. `outputs`: the unsplit model's, one for each micro-batch of its inputs. `inputs`: as
  /// many if the request announces them, otherwise none.
  void take_references(const stage::TakeReferences& request, const std::vector<std::vector<std::byte>>& outputs,
                       const std::vector<std::vector<std::byte>>& inputs);

  /// Returns when every stage is ready. The replies are in the order of the requests.
  std::vector<stage::Prepared> prepare(const std::vector<stage::Prepare>& requests);

  /// How long one stage takes for runs of blocks, or for codecs, while the others sleep.
  stage::RunTimes time_runs(int stage, const stage::TimeRuns& request);
  stage::CodecTimes time_codecs(int stage, const stage::TimeCodecs& request);

  /// Measures the way from one stage to another, over a connection of its own, which is shaped like their link.
  stage::LinkProbed probe_link(int from, int to, const stage::ProbeExtent& extent = {});

  /// Runs the stages that take part, the first `requests.size()`, and returns their reports. The time until the last
  /// query of a Server phase arrives is added to the timeout.
  std::vector<stage::RunReport> run(const std::vector<stage::Run>& requests);

  /// `requests`: one for each stage that takes part, which are the first ones. `inputs`: one for each micro-batch, for
  /// a stage whose request says that they follow.
  void prepare_training(const std::vector<stage::PrepareTraining>& requests,
                        const std::vector<std::vector<std::byte>>& inputs);
  std::vector<stage::TrainReport> train(const std::vector<stage::Train>& requests);

  /// The number of samples in the first stage's data.
  std::int64_t count_labels(const stage::ModelRequest& model);

  /// Replaces the data that the coming steps learn from. Each of `stages` gets its own task.
  void take_training_data(const std::vector<int>& stages, const std::vector<stage::TakeTrainingData>& tasks);

  /// What the first `stages` stages hold, in the order of the model's blocks.
  std::vector<TrainedTensor> fetch_weights(int stages);

  /// The result of the last batch of the run whose requests had this tag, which must be the last run. Its micro-batches
  /// follow one another.
  std::vector<std::byte> fetch_result(std::uint32_t tag, const wire::TensorSpec& micro_batch, int micro_batches);

 private:
  template <class Reply, class Request>
  std::vector<Reply> ask(const std::vector<Request>& requests, Nanoseconds busy = {});
  WaitLimits limits(Nanoseconds busy = {}) const;
  void meet_guards();
  void join(const std::vector<int>& ring, int device);
  stage::Listen listener_for(int from, int to) const;
  stage::Listen listener_for_probe(int from, int to) const;
  shaping::Endpoint endpoint_of(int from, int to, std::uint16_t port);
  bool between_devices(int from, int to) const;
  bool through_relay(int from, int to) const;
  template <class Reply, class Request>
  std::vector<Reply> ask_by_name(const std::vector<int>& stages, const std::vector<Request>& requests, const char* what,
                                 const char* advice);
  const char* advice_on_addresses() const;
  std::vector<stage::Listening> listen(const std::vector<int>& stages, const std::vector<stage::Listen>& listeners);
  std::vector<stage::RelayOpened> open_relays(const std::vector<int>& senders,
                                              const std::vector<stage::OpenRelay>& requests);
  std::vector<shaping::Endpoint> ways_round(const std::vector<int>& ring, const std::vector<stage::Listening>& ports);
  ReachedDevice reached(int stage) const;
  std::string replica_address(int stage, int count) const;

  PipelineOptions options_;
  shaping::Network& network_;
  std::deque<StageClient> stages_;  // a client does not move: others hold pointers to it
  std::vector<stage::Configured> configured_;
  wire::Key key_ = wire::random_key();  ///< what proves a stage to be one of these; sent to them in `Join` only
  FileCopies copies_;
  LinksBetweenDevices links_between_devices_;
  bool has_star_ = false;
  bool has_backward_ring_ = false;
  bool has_replicas_ = false;
};

template <class Reply, class Request>
std::vector<Reply> Pipeline::ask_of(const std::vector<int>& stages, const std::vector<Request>& requests,
                                    Nanoseconds busy) {
  std::vector<StageClient*> asked;
  std::vector<std::size_t> places(stages_.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto stage = static_cast<std::size_t>(stages[i]);
    places[stage] = i;
    stages_[stage].send(requests[i], limits(busy));
    asked.push_back(&stages_[stage]);
  }
  std::vector<Reply> replies(requests.size());
  for_each_reply(asked, limits(busy), [&](StageClient& stage) {
    replies[places[static_cast<std::size_t>(stage.index())]] = stage.receive<Reply>();
  });
  return replies;
}

}  // namespace paretopipe::run
