#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/encoding.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

codec::Element element_of(wire::DType dtype) {
  switch (dtype) {
    case wire::DType::float32:
      return codec::Element::float32;
    case wire::DType::bfloat16:
      return codec::Element::bfloat16;
    case wire::DType::int64:
      break;
  }
  return codec::Element::int64;
}

}  // namespace

codec::Layout layout_of(const wire::TensorSpec& spec) {
  codec::Layout layout{.element = element_of(spec.dtype)};
  layout.values = static_cast<std::size_t>(wire::byte_size(spec) / wire::element_size(spec.dtype));
  const auto& shape = spec.shape;
  if (shape.size() == 4) {
    layout.channels = static_cast<std::size_t>(shape[1]);
    layout.height = static_cast<std::size_t>(shape[2]);
    layout.width = static_cast<std::size_t>(shape[3]);
    if (spec.memory_format == wire::MemoryFormat::contiguous)
      layout.stride = static_cast<std::size_t>(shape[2] * shape[3]);
  } else if (shape.size() > 2) {
    layout.channels = static_cast<std::size_t>(shape.back());
  }
  return layout;
}

std::string tensors_at(int block) {
  return block == 0 ? "the model's input" : fmt::format("the output of block {}", block);
}

std::int64_t EncodedTensors::payload_bytes() const {
  std::size_t sum = 0;
  for (const auto& tensor : tensors) sum += tensor.bytes;
  return static_cast<std::int64_t>(sum);
}

Encoder::Encoder(const codec::Codec& codec, std::string what) : codec_(codec), what_(std::move(what)) {}

const EncodedTensors& Encoder::encode(const Activation& activation) {
  encoded_.tensors.resize(activation.tensors());
  for (std::size_t i = 0; i < activation.tensors(); ++i) {
    const auto& tensor = activation.tensor(i);
    auto& [spec, layout, memory, bytes] = encoded_.tensors[i];
    if (memory.empty() || spec != tensor.spec) {
      spec = tensor.spec;
      layout = layout_of(spec);
      memory.resize(codec::most_bytes(codec_, layout));
      held_bytes_ += static_cast<std::int64_t>(memory.size());
    }
    try {
      bytes = codec::encode(codec_, layout, tensor.bytes, memory, scratch_);
    } catch (const codec::CannotEncode& error) {
      throw EnvironmentError(fmt::format("encode {} with {}: {}; leave the codec out, or cut elsewhere", what_,
                                         to_string(codec_), error.what()));
    }
  }
  payload_bytes_ += encoded_.payload_bytes();
  return encoded_;
}

Decoder::Decoder(const codec::Codec& codec, const Boundary& incoming)
    : codec_(codec), incoming_(incoming), bodies_(incoming.size()) {
  for (const auto& spec : incoming_) {
    layouts_.push_back(layout_of(spec));
    memory_.emplace_back(codec::most_bytes(codec_, layouts_.back()));
  }
}

wire::ReceiveTimes Decoder::receive(wire::Link& link, std::uint32_t tag, std::size_t micro_batch) {
  return for_each_frame(micro_batch, incoming_.size(), [&](std::size_t i, std::uint64_t sequence) {
    const auto encoded = link.receive_encoded(tag, sequence, incoming_[i], codec_.number(), memory_[i]);
    bodies_[i] = encoded.body;
    return encoded.times;
  });
}

void Decoder::take(const EncodedTensors& encoded) {
  for (std::size_t i = 0; i < incoming_.size(); ++i) bodies_[i] = encoded.tensors.at(i).body();
}

void Decoder::decode(const Activation& into) {
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    try {
      codec::decode(codec_, layouts_[i], bodies_[i], into.tensor(i).bytes, scratch_);
    } catch (const codec::Damaged& error) {
      throw wire::ProtocolError(fmt::format("decode {} of another stage with {}: {}", wire::to_string(incoming_[i]),
                                            to_string(codec_), error.what()));
    }
  }
}

std::int64_t Decoder::held_bytes() const {
  std::size_t sum = 0;
  for (const auto& memory : memory_) sum += memory.size();
  return static_cast<std::int64_t>(sum);
}

wire::SendTimes send(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, std::uint8_t codec,
                     const EncodedTensors& encoded) {
  return for_each_frame(micro_batch, encoded.tensors.size(), [&](std::size_t i, std::uint64_t sequence) {
    const auto& tensor = encoded.tensors[i];
    return link.send_encoded(tag, sequence, tensor.spec, codec, tensor.body());
  });
}

}  // namespace paretopipe::stage
