#pragma once
#include <paretopipe/codec/codec.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/wire/link.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::stage {

// Tensors that cross a cut with a codec. The threads that serve the links encode and decode: the sending one encodes
// right before it sends, and the receiving one decodes. With a CPU to spare the next micro-batch is computed meanwhile,
// and without one nothing is lost (results/README.md, "Which thread encodes").

/// How a codec sees a tensor of this spec.
codec::Layout layout_of(const wire::TensorSpec& spec);

/// What crosses a cut before this block, for errors: "the output of block 7", "the model's input".
std::string tensors_at(int block);

/// What a codec made of a micro-batch's tensors. The memory is used again for later micro-batches.
struct EncodedTensors {
  struct Tensor {
    wire::TensorSpec spec;
    codec::Layout layout;
    std::vector<std::byte> memory;  ///< room for the most bytes
    std::size_t bytes = 0;          ///< that were filled

    std::span<const std::byte> body() const { return std::span(memory).first(bytes); }
  };
  std::vector<Tensor> tensors;

  std::int64_t payload_bytes() const;
};

/// Encodes what a stage sends. For one thread.
class Encoder {
 public:
  /// `codec` must encode. `what` names what it encodes, for errors.
  Encoder(const codec::Codec& codec, std::string what);

  /// What it returns is valid until the next call. Throws EnvironmentError if the codec cannot encode the values, such
  /// as NaN and infinities.
  const EncodedTensors& encode(const Activation& activation);

  std::uint8_t number() const { return codec_.number(); }
  /// Sum over all micro-batches so far.
  std::int64_t payload_bytes() const { return payload_bytes_; }
  /// Memory that is held; call it when the threads are done.
  std::int64_t held_bytes() const { return held_bytes_; }

 private:
  codec::Codec codec_;
  std::string what_;
  codec::Scratch scratch_;
  EncodedTensors encoded_;
  std::int64_t payload_bytes_ = 0;
  std::int64_t held_bytes_ = 0;
};

/// Receives and decodes what a stage is sent. For one thread.
class Decoder {
 public:
  /// `codec` must encode. Allocates for micro-batches of these tensors.
  Decoder(const codec::Codec& codec, const Boundary& incoming);

  /// Receives an encoded micro-batch. The times run from the first tensor's header to the last byte of the last tensor.
  /// Throws what wire::Link throws.
  wire::ReceiveTimes receive(wire::Link& link, std::uint32_t tag, std::size_t micro_batch);

  /// Takes an encoded micro-batch that did not come over a link. `encoded` must outlive the decode() that follows.
  void take(const EncodedTensors& encoded);

  /// Decodes the latest micro-batch into memory of exactly its size. Throws wire::ProtocolError for what the codec
  /// cannot have made.
  void decode(const Activation& into);

  std::int64_t held_bytes() const;

 private:
  codec::Codec codec_;
  codec::Scratch scratch_;
  Boundary incoming_;
  std::vector<codec::Layout> layouts_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::span<const std::byte>> bodies_;
};

/// Sends an encoded micro-batch. The times run from before the first byte of the first tensor's header to the last byte
/// of the last tensor. Throws what wire::Link throws.
wire::SendTimes send(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, std::uint8_t codec,
                     const EncodedTensors& encoded);

}  // namespace paretopipe::stage
