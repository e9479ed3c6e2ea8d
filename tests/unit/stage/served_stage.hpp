#pragma once
#include <paretopipe/stage/session.hpp>

#include <future>
#include <stdexcept>
#include <string>

#include "ring.hpp"

namespace paretopipe::testing {

/// A stage that serves requests in a thread of its own. The end of life ends it.
class ServedStage {
 public:
  explicit ServedStage(const std::string& fault = "") : backend_(make_backend(fault)) {
    done_ = std::async(std::launch::async, [this] { stage::serve(links_.second, *backend_); });
  }
  ~ServedStage() { links_.first.shutdown(); }

  wire::Link& control() { return links_.first; }

  template <class Request>
  void send(const Request& request) {
    control().send_message(stage::wrap(request));
  }

  template <class Reply>
  Reply receive() {
    const auto envelope = control().receive_message();
    auto reply = stage::unwrap<Reply>(envelope);
    if (!reply) throw std::runtime_error("the stage answered " + envelope.dump());
    return *std::move(reply);
  }

  template <class Reply, class Request>
  Reply ask(const Request& request) {
    send(request);
    return receive<Reply>();
  }

  /// Until the stage ends. Throws what it ended with.
  void wait() { done_.get(); }

 private:
  std::unique_ptr<stage::Backend> backend_;
  std::pair<wire::Link, wire::Link> links_ = wire::make_link_pair();
  std::future<void> done_;
};

}  // namespace paretopipe::testing
