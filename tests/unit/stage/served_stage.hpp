#pragma once
#include <paretopipe/stage/session.hpp>

#include <future>
#include <stdexcept>
#include <string>

#include "../../fakes/star_all_reduce.hpp"
#include "ring.hpp"

namespace paretopipe::testing {

/// The run of a stage alone, with four batches in each phase.
inline stage::Run lone_run() {
  return make_runs({.splits = {}, .warmup = 1, .batches = 3, .depth = 2}).front();
}

/// A stage that serves requests in a thread of its own. The end of life ends it.
class ServedStage {
 public:
  explicit ServedStage(const std::string& fault = "") : backend_(make_backend(fault)) {
    done_ = std::async(std::launch::async, [this] { stage::serve(links_.second, *backend_, fakes::join_star); });
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

  /// Loads all blocks and makes the stage the source, as a driver does it: another process computes the unsplit
  /// outputs.
  void make_source(int distinct_inputs, int micro_batches = 1) {
    ServedStage unsplit;
    const auto follow = unsplit.ask<stage::ReferencesFollow>(
        stage::ComputeReferences{a_model(), kBlocks, distinct_inputs, micro_batches});
    ask<stage::Loaded>(stage::Load{a_model(), {0, kBlocks}});
    send(stage::TakeReferences{a_model(), distinct_inputs, micro_batches, follow.ends});
    std::vector<std::byte> output(static_cast<std::size_t>(wire::byte_size(follow.ends.result)));
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(distinct_inputs * micro_batches); ++i) {
      unsplit.control().receive_tensor(0, i, follow.ends.result, output);
      control().send_tensor(0, i, follow.ends.result, output);
    }
    receive<stage::ReferencesTaken>();
  }

  /// Until the stage ends. Throws what it ended with.
  void wait() { done_.get(); }

 private:
  std::unique_ptr<stage::Backend> backend_;
  std::pair<wire::Link, wire::Link> links_ = wire::make_link_pair();
  std::future<void> done_;
};

}  // namespace paretopipe::testing
