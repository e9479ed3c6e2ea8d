#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/device.hpp>
#include <paretopipe/host/process_usage.hpp>
#include <paretopipe/launch/child_process.hpp>
#include <paretopipe/launch/guard.hpp>
#include <paretopipe/run/stall.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/wire/control_body.hpp>
#include <paretopipe/wire/link.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace paretopipe::run {

/// A stage could not do what it was asked. Its pipeline is useless afterwards.
class StageError : public Error {
 public:
  enum class Kind {
    refused,    ///< it answered with a reason of its own
    peer_lost,  ///< it answered that a neighbour ended the link between them: the effect of another's failure
    died,       ///< the process, or one that it had started, ended, hung, or spoke another protocol
  };

  StageError(std::optional<int> stage, Kind kind, ExitCode code, const std::string& reason)
      : Error(code, reason), stage_(stage), kind_(kind) {}

  std::optional<int> stage() const { return stage_; }  ///< none if it cannot be told which one
  Kind kind() const { return kind_; }

 private:
  std::optional<int> stage_;
  Kind kind_;
};

/// In place of a stage's number: a process of the driver's own.
inline constexpr int kNoStage = -1;

/// How a stage process is started.
struct StageCommand {
  std::filesystem::path program;
  /// The whole command whose stdin and stdout reach the guard of a stage on another machine (launch/guard.hpp). Empty:
  /// the stage runs on this machine, where `program` is started. Namespaces and cgroups are of this machine.
  std::vector<std::string> launcher{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::vector<int> namespaces{};  ///< to enter first (launch::ChildCommand); borrowed while the stage is started
  std::vector<int> cgroups{};     ///< the same
  /// Called when the process has died. Returns more about why, to append to how it ended. May be empty.
  std::function<std::string()> cause_of_death{};
  std::string name{};  ///< in messages; empty: "stage N"
};

/// Ends the sentence about a stage that was late.
inline constexpr const char* kRaiseTimeout = "; the pipeline was ended (if it was merely slow, raise --trial-timeout)";

/// What may end a wait.
struct WaitLimits {
  Clock::time_point deadline;
  int interrupt_descriptor = -1;            ///< readable when a person wants to stop; -1: nobody can
  const StallWatching* watching = nullptr;  ///< null: the stages are not asked where they are
  bool of_trial = false;                    ///< a trial's timeout, which a person can raise
};

/// One stage process and the control link to it. The destructor ends the process.
class StageClient {
 public:
  /// Starts `program serve`, or the launcher. Throws EnvironmentError if it cannot be started.
  StageClient(int index, const StageCommand& command);
  ~StageClient();
  StageClient(const StageClient&) = delete;
  StageClient& operator=(const StageClient&) = delete;

  /// For a stage on another machine, before anything else: waits until its guard answers. Throws StageError, which says
  /// what to do, and Interrupted.
  void meet(Clock::time_point deadline, int interrupt_descriptor);

  /// The guard's answer. Absent for a stage on this machine.
  const std::optional<launch::GuardAnswer>& guard() const { return guard_; }

  int index() const { return index_; }
  const std::string& name() const { return name_; }  ///< "stage 1"

  template <class Request>
  void send(const Request& request) {
    send_body(wire::encode_control_body(stage::wrap(request)));
  }

  /// Sends a request within the limits, as send_within() does, if a socket may not hold it.
  template <class Request>
  void send(const Request& request, const WaitLimits& limits) {
    const auto body = wire::encode_control_body(stage::wrap(request));
    if (body.size() <= kSocketHolds) return send_body(body);
    send_within(limits, [&] { send_body(body); });
  }

  /// Calls `sends`, which sends this stage something that may take long, because a link takes only as much as the stage
  /// reads. At the limits the control link is shut down, and Interrupted or StageError is thrown; `watching` is not
  /// used.
  void send_within(const WaitLimits& limits, const std::function<void()>& sends) {
    transfer_within(limits, sends, "did not take in time what it was sent");
  }

  /// The same for `receives`, which receives the tensors that the stage has announced.
  void receive_within(const WaitLimits& limits, const std::function<void()>& receives) {
    transfer_within(limits, receives, "did not send in time what it announced");
  }

  /// Asks "where are you", which the stage answers at any time. The answer must come before the next such question.
  void ask_where();
  bool has_open_question() const { return asked_where_; }

  /// Reads the message that has arrived. True for a reply, which `receive` then returns; false for the answer to
  /// ask_where(). Throws StageError for a dead process.
  bool take_message();

  /// Takes a message that may only have begun to arrive, and waits for the rest of it as receive_within() does.
  bool take_message(const WaitLimits& limits);

  /// The newest answer to ask_where() that was not taken yet. Absent if there is none.
  std::optional<stage::Whereabouts> take_whereabouts() { return std::exchange(whereabouts_, std::nullopt); }

  /// The state of the process. Absent if /proc does not tell, as for a process on another machine.
  std::optional<host::ProcessState> process_state() const {
    return launched_with_.empty() ? host::read_process_state(process_.pid()) : std::nullopt;
  }

  /// The size of the process's output, if its guard's signs of life arrive in it. It then grows while the host is
  /// there.
  std::optional<std::size_t> signs_of_life() const;

  /// The reply that has arrived or is arriving. Throws StageError for a fault, a dead process, or another message.
  template <class Reply>
  Reply receive() {
    const auto envelope = receive_reply();
    try {
      if (auto reply = stage::unwrap<Reply>(envelope)) return *std::move(reply);
      if (const auto fault = stage::unwrap<stage::Fault>(envelope)) throw error_of(*fault);
    } catch (const nlohmann::json::exception& error) {
      throw failure(fmt::format("sent a malformed message where {} was due ({})", Reply::kType, error.what()));
    }
    const auto type = envelope.is_object() ? envelope.value("type", nlohmann::json()) : nlohmann::json();
    throw failure(fmt::format("answered with {} where {} was due", type.dump(), Reply::kType));
  }

  /// Receives the tensor that a reply announced, straight into memory of its size. Throws StageError for a tensor other
  /// than announced, and for a process that ends meanwhile.
  void receive_tensor(std::uint32_t tag, std::uint64_t sequence, const wire::TensorSpec& announced,
                      std::span<std::byte> into);

  /// Sends a tensor that the previous request announced.
  void send_tensor(std::uint32_t tag, std::uint64_t sequence, const wire::TensorSpec& spec,
                   std::span<const std::byte> bytes);

  /// For poll: readable when a reply or the end of the process is there.
  int descriptor() const { return control_.native_handle(); }

  bool ended() { return process_.how_it_ended().has_value(); }

  StageError error_of(const stage::Fault& fault) const;
  /// "stage 1 WHAT", with the last lines that it printed.
  StageError failure(const std::string& what) const;

  /// The error to report for a stage whose control link has ended.
  StageError death();

 private:
  StageError other_architecture() const;
  struct Started;
  StageClient(int index, const StageCommand& command, Started started);
  static constexpr std::size_t kSocketHolds = 16'384;  ///< at least, while the stage awaits a request

  void send_body(const std::string& body);
  nlohmann::json receive_envelope();
  nlohmann::json receive_reply();
  /// `late_for`: what the stage did if a deadline passes.
  void transfer_within(const WaitLimits& limits, const std::function<void()>& transfers, const char* late_for);

  std::optional<int> stage() const { return index_ == kNoStage ? std::nullopt : std::optional(index_); }

  int index_;
  std::string name_;
  std::function<std::string()> cause_of_death_;
  std::string launched_with_;  ///< the launcher's program; empty: a stage on this machine
  launch::GuardOrder order_;
  std::optional<launch::GuardAnswer> guard_;
  launch::ChildProcess process_;
  std::size_t output_before_signs_ = 0;
  wire::Link control_;
  bool asked_where_ = false;
  std::optional<stage::Whereabouts> whereabouts_;
  std::optional<nlohmann::json> reply_;  ///< read but not returned yet
};

/// Waits until every one of `stages` has something to read, and calls `take` for each as it does. Throws Interrupted,
/// and StageError for stages that are late or, if watched, hang (stall.hpp). What `take` throws ends the wait, except
/// for a complaint about a lost neighbour: the other stages, whose links are broken too, are heard first, because one
/// of them knows the cause.
void for_each_reply(const std::vector<StageClient*>& stages, const WaitLimits& limits,
                    const std::function<void(StageClient&)>& take);

/// A sentence on each stage whose device has a stage program of another build than this driver. Two stages of one
/// device have the same. `on`: the stages' devices; empty if all run on this machine.
std::vector<std::string> other_build_notices(const std::vector<experiment::Device>& on,
                                             const std::vector<stage::Configured>& configured);

/// The reply of one stage. Throws as for_each_reply() and StageClient::receive() do.
template <class Reply>
Reply wait_for_reply(StageClient& stage, const WaitLimits& limits) {
  Reply reply;
  for_each_reply({&stage}, limits, [&](StageClient& client) { reply = client.receive<Reply>(); });
  return reply;
}

}  // namespace paretopipe::run
