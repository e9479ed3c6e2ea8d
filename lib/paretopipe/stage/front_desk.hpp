#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/progress.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::wire {
class Link;
}

namespace paretopipe::stage {

/// The stage's end of the control link. A thread of its own takes what the driver sends: it answers "where are you" at
/// once, whatever the stage is doing, and keeps the other requests until the stage asks for them. Between requests it
/// sleeps, and like every thread that does not compute it leaves the core to the one that does (SCHED_BATCH). It is not
/// bound to the stage's CPUs, so that an answer need not be given on one of them.
class FrontDesk {
 public:
  struct Request {
    nlohmann::json message;
    std::int64_t received_at_ns = 0;
    std::vector<Activation> tensors{};  ///< that followed the message
  };

  /// Both must outlive the desk, whose end shuts the link down.
  FrontDesk(wire::Link& control, const Progress& progress);
  ~FrontDesk();
  FrontDesk(const FrontDesk&) = delete;
  FrontDesk& operator=(const FrontDesk&) = delete;

  /// Blocks until the next request is there. None once the link has ended and all that came over it was given out.
  /// Throws what else ended it (wire::ProtocolError, wire::ConnectionLost).
  std::optional<Request> next();

  /// Sends a reply and the tensors that follow it, with `tag`, numbered from 0: no answer comes in between.
  void reply(const nlohmann::json& message, std::uint32_t tag, std::span<const Activation> tensors);

 private:
  void listen();
  void take_requests();

  wire::Link& control_;
  const Progress& progress_;
  std::mutex sending_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::deque<Request> requests_;
  bool ended_ = false;
  std::exception_ptr error_;
  std::thread thread_;  ///< the last member: it uses all others
};

}  // namespace paretopipe::stage
