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

/// The stage's end of the control link. A dedicated thread receives the driver's messages. It answers "where are you"
/// at once, whatever the stage is doing, and keeps other requests until the stage asks for them. It sleeps between
/// requests and, like every thread that does not compute, yields the core to the computing thread (SCHED_BATCH). It is
/// not bound to the stage's CPUs, so an answer need not use them.
class FrontDesk {
 public:
  struct Request {
    nlohmann::json message;
    std::int64_t received_at_ns = 0;
    std::vector<Activation> tensors{};  ///< that followed the message
  };

  /// Both must outlive the desk. Its destructor shuts the link down.
  FrontDesk(wire::Link& control, const Progress& progress);
  ~FrontDesk();
  FrontDesk(const FrontDesk&) = delete;
  FrontDesk& operator=(const FrontDesk&) = delete;

  /// Blocks until the next request arrives. None once the link has ended and all received requests were returned.
  /// Throws any other error that ended the link (wire::ProtocolError, wire::ConnectionLost).
  std::optional<Request> next();

  /// Sends a reply and its tensors, with `tag` and numbered from 0. No answer to "where are you" comes in between.
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
