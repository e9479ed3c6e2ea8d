#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/training_crossings.hpp>
#include <paretopipe/wire/link.hpp>

#include <utility>

namespace paretopipe::stage {

namespace {

std::int64_t bytes_of(const Activation& activation) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < activation.tensors(); ++i) {
    bytes += static_cast<std::int64_t>(activation.tensor(i).bytes.size());
  }
  return bytes;
}

}  // namespace

void WaitingBytes::enter(std::int64_t bytes) {
  const auto now = now_ += bytes;
  auto most = most_.load();
  while (now > most && !most_.compare_exchange_weak(most, now)) {
  }
}

Inbound::Inbound(wire::Link* link, const CrossingRun& run, const codec::Codec& codec, const Boundary& boundary,
                 PassTimeline& pass)
    : link_(link), run_(run), boundary_(boundary), pass_(pass), queue_(run.room) {
  if (link_ == nullptr) return;
  pass_.receive_begin.resize(run_.total);
  pass_.receive_end.resize(run_.total);
  if (!codec.encodes()) return;
  decoder_.emplace(codec, boundary_);
  pass_.ready.resize(run_.total);
}

void Inbound::receive(Backend& backend, Lane& lane) {
  for (std::size_t sequence = 0; sequence < run_.total; ++sequence) {
    auto tensors = allocate(boundary_, backend);
    lane.now(Doing::waiting);
    const auto times =
        decoder_ ? decoder_->receive(*link_, run_.tag, sequence) : stage::receive(*link_, run_.tag, sequence, tensors);
    pass_.receive_begin[sequence] = times.begin_ns;
    pass_.receive_end[sequence] = times.end_ns;
    if (decoder_) {
      lane.now(Doing::working);
      decoder_->decode(tensors);
      pass_.ready[sequence] = now_ns();
    }
    lane.next(Doing::held_up);
    waiting_.enter(bytes_of(tensors));
    if (!queue_.push(std::move(tensors))) return;
  }
}

std::optional<Activation> Inbound::take() {
  auto tensors = queue_.pop();
  if (!tensors) return std::nullopt;
  const auto bytes = bytes_of(*tensors);
  waiting_.leave(bytes);
  tensor_bytes().add(bytes);
  return tensors;
}

std::int64_t Inbound::most_bytes() const {
  return waiting_.most() + (decoder_ ? decoder_->held_bytes() : 0);
}

Outbound::Outbound(wire::Link* link, const CrossingRun& run, const codec::Codec& codec, std::string what,
                   PassTimeline& pass)
    : link_(link), run_(run), pass_(pass), queue_(run.room) {
  if (link_ == nullptr) return;
  pass_.send_begin.resize(run_.total);
  pass_.send_end.resize(run_.total);
  if (!codec.encodes()) return;
  encoder_.emplace(codec, std::move(what));
  pass_.codec_begin.resize(run_.total);
  pass_.encoded.resize(run_.total);
}

bool Outbound::hand_on(std::size_t micro_batch, Activation tensors) {
  sent_.unencoded_bytes += bytes_of(tensors);
  sent_.tensors = static_cast<int>(tensors.tensors());
  return queue_.push({micro_batch, std::move(tensors)});
}

void Outbound::send(RunProgress& progress, std::size_t neighbours) {
  auto& lane = progress.send(neighbours);
  for (std::size_t i = 0; i < run_.total; ++i) {
    auto item = queue_.pop();
    if (!item) return;
    const auto times = encoder_ ? send_encoded(*item, lane, progress) : send(*item, lane);
    pass_.send_begin[item->micro_batch] = times.begin_ns;
    pass_.send_end[item->micro_batch] = times.end_ns;
    lane.next(Doing::waiting);
  }
}

wire::SendTimes Outbound::send(Item& item, Lane& lane) {
  lane.now(Doing::sending);
  const auto times = stage::send(*link_, run_.tag, item.micro_batch, item.tensors);
  sent_.bytes += bytes_of(item.tensors);
  let_go(item);
  return times;
}

wire::SendTimes Outbound::send_encoded(Item& item, Lane& lane, RunProgress& progress) {
  lane.now(Doing::working);
  const auto begin_ns = pass_.codec_begin[item.micro_batch] = now_ns();
  const auto& encoded = encoder_->encode(item.tensors);
  const auto end_ns = pass_.encoded[item.micro_batch] = now_ns();
  progress.worked(end_ns - begin_ns);
  let_go(item);
  sent_.bytes += encoded.payload_bytes();
  lane.now(Doing::sending);
  return stage::send(*link_, run_.tag, item.micro_batch, encoder_->number(), encoded);
}

void Outbound::let_go(Item& item) {
  const auto before = tensor_bytes().alive;
  item.tensors = {};
  freed_ += before - tensor_bytes().alive;
}

void Outbound::count_freed() {
  tensor_bytes().remove(freed_.exchange(0));
}

std::int64_t Outbound::most_bytes() const {
  return encoder_ ? encoder_->held_bytes() : 0;
}

}  // namespace paretopipe::stage
