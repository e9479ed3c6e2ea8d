#pragma once
#include <paretopipe/core/training_timeline.hpp>
#include <paretopipe/stage/bounded_queue.hpp>
#include <paretopipe/stage/encoding.hpp>
#include <paretopipe/stage/progress.hpp>
#include <paretopipe/stage/training_messages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace paretopipe::stage {

// A stage that trains has up to four crossings: activations and gradients, each in and out. Each has a queue between
// the computing thread and a link's.

/// Bytes of tensors that wait, and the most at a time.
class WaitingBytes {
 public:
  void enter(std::int64_t bytes);
  void leave(std::int64_t bytes) { now_ -= bytes; }
  std::int64_t most() const { return most_; }

 private:
  std::atomic<std::int64_t> now_ = 0;
  std::atomic<std::int64_t> most_ = 0;
};

/// What all crossings of a run have in common.
struct CrossingRun {
  std::uint32_t tag = 0;
  std::size_t total = 0;  ///< micro-batches of all steps
  std::size_t room = 1;   ///< micro-batches that wait without holding anybody up
};

/// Tensors that come from a neighbour.
class Inbound {
 public:
  /// `link` may be null: nothing comes. `pass` gets the moments.
  Inbound(wire::Link* link, const CrossingRun& run, const codec::Codec& codec, const Boundary& boundary,
          PassTimeline& pass);

  bool exists() const { return link_ != nullptr; }

  /// Receives and decodes all micro-batches, each into new memory, because what a backward needs stays until then.
  void receive(Backend& backend, Lane& lane);

  /// The next micro-batch's tensors, which belong to the calling thread from now on. Nothing after close().
  std::optional<Activation> take();

  void close() { queue_.close(); }
  /// Memory beside the tensors that were taken. Call it when the threads are done.
  std::int64_t most_bytes() const;

 private:
  wire::Link* link_;
  const CrossingRun run_;
  const Boundary boundary_;
  PassTimeline& pass_;
  BoundedQueue<Activation> queue_;
  WaitingBytes waiting_;
  std::optional<Decoder> decoder_;
};

/// Tensors that go to a neighbour.
class Outbound {
 public:
  /// `link` may be null: nothing goes. `what` names what goes, for errors of the codec. `pass` gets the moments.
  Outbound(wire::Link* link, const CrossingRun& run, const codec::Codec& codec, std::string what, PassTimeline& pass);

  bool exists() const { return link_ != nullptr; }

  /// Takes a micro-batch's tensors from the computing thread. Does not wait for the link. False after close().
  bool hand_on(std::size_t micro_batch, Activation tensors);

  /// Sends all micro-batches, encoded if there is a codec. Throws EnvironmentError if they hold what the codec cannot
  /// keep.
  void send(RunProgress& progress, std::size_t neighbours);

  /// Takes what send() freed off the calling thread's tensor_bytes(). To be called by the computing thread.
  void count_freed();

  void close() { queue_.close(); }
  /// Memory beside the tensors that were handed on.
  std::int64_t most_bytes() const;
  const Sent& sent() const { return sent_; }

 private:
  struct Item {
    std::size_t micro_batch = 0;
    Activation tensors;
  };
  wire::SendTimes send(Item& item, Lane& lane);
  wire::SendTimes send_encoded(Item& item, Lane& lane, RunProgress& progress);
  /// Frees what the computing thread does not keep for its backward.
  void let_go(Item& item);

  wire::Link* link_;
  const CrossingRun run_;
  PassTimeline& pass_;
  BoundedQueue<Item> queue_;
  std::atomic<std::int64_t> freed_ = 0;
  std::optional<Encoder> encoder_;
  Sent sent_;
};

}  // namespace paretopipe::stage
