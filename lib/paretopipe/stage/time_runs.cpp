#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/encoding.hpp>
#include <paretopipe/stage/time_runs.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

constexpr int kMostTimedRounds = 1000;
/// Ten periods of the longest quota, whose period is a second.
constexpr std::int64_t kMostLeastNs = 10'000'000'000;
/// More rounds than these tell nothing new.
constexpr std::size_t kMostRounds = 100'000;

void check(const TimeRuns& request) {
  const auto& ends = request.ends;
  const bool ordered = std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<>()) == ends.end();
  if (request.rounds >= 1 && request.rounds <= kMostTimedRounds && request.begin >= 0 && !ends.empty() && ordered &&
      ends.front() > request.begin && ends.back() <= request.block_count && request.least_ns >= 0 &&
      request.least_ns <= kMostLeastNs && request.enough_ns >= 0) {
    return;
  }
  throw wire::ProtocolError(fmt::format(
      "the driver asked for the times of {} runs from block {} on, of a model of {} blocks, in {} rounds of "
      "{} ns or more together, up to one of {} ns",
      ends.size(), request.begin, request.block_count, request.rounds, request.least_ns, request.enough_ns));
}

void check(const TimeCodecs& request) {
  const auto encodes = [](const codec::Codec& codec) { return codec.encodes(); };
  if (request.rounds >= 1 && request.rounds <= kMostTimedRounds && request.cut >= 0 &&
      request.cut <= request.block_count && std::all_of(request.codecs.begin(), request.codecs.end(), encodes)) {
    return;
  }
  throw wire::ProtocolError(
      fmt::format("the driver asked for the times of {} codecs at cut {} of a model of {} blocks, in {} rounds",
                  request.codecs.size(), request.cut, request.block_count, request.rounds));
}

Boundary boundary_of(const Activation& activation) {
  Boundary boundary;
  for (std::size_t i = 0; i < activation.tensors(); ++i) boundary.push_back(activation.tensor(i).spec);
  return boundary;
}

/// Before the rounds that count, others run for one part in so many of the least time. They use up what CPU time a
/// quota has saved.
constexpr int kDroppedPart = 10;

bool is_short(std::size_t rounds, std::int64_t all_ns, const TimeRuns& request) {
  if (rounds < static_cast<std::size_t>(request.rounds)) return true;
  return all_ns < request.least_ns && rounds < kMostRounds;
}

/// A copy, as if it had come over a link, because a stage may overwrite its input.
Activation received_copy(const Activation& activation, const Boundary& boundary, Backend& backend) {
  auto copy = allocate(boundary, backend);
  for (std::size_t i = 0; i < activation.tensors(); ++i) {
    std::ranges::copy(activation.tensor(i).bytes, copy.tensor(i).bytes.begin());
  }
  return backend.decode(std::move(copy));
}

/// What crosses the cut before this block.
Activation crossing_at(int block, const ModelRequest& model, Backend& backend) {
  auto input = backend.make_inputs(model, 1).front();
  return block == 0 ? input : backend.encode(backend.forward({0, block}, std::move(input)));
}

CodecTime time_codec(const codec::Codec& codec, const Activation& activation, int cut, int rounds, Backend& backend) {
  const auto boundary = boundary_of(activation);
  const auto decoded = allocate(boundary, backend);
  Encoder encoder(codec, tensors_at(cut));
  Decoder decoder(codec, boundary);
  CodecTime time;
  for (int round = 0; round <= rounds; ++round) {
    const auto begin_ns = now_ns();
    const auto& encoded = encoder.encode(activation);
    const auto encoded_ns = now_ns();
    decoder.take(encoded);
    decoder.decode(decoded);
    const auto decoded_ns = now_ns();
    time.payload_bytes = encoded.payload_bytes();
    if (round == 0) continue;
    time.encode_ns.push_back(encoded_ns - begin_ns);
    time.decode_ns.push_back(decoded_ns - encoded_ns);
  }
  return time;
}

}  // namespace

RunTimes time_runs(const TimeRuns& request, Backend& backend) {
  check(request);
  backend.load(request.model, {0, request.block_count});
  const auto input = crossing_at(request.begin, request.model, backend);
  const auto boundary = boundary_of(input);
  RunTimes reply;
  for (const int end : request.ends) {
    const experiment::BlockRange blocks{request.begin, end};
    if (request.prepared) backend.prepare(blocks, boundary);
    const TensorWatch watch;
    RunTime run{.end = end};
    const auto round_ns = [&] {
      auto activation = request.begin > 0 ? received_copy(input, boundary, backend) : input;
      const auto begin_ns = now_ns();
      activation = backend.encode(backend.forward(blocks, std::move(activation)));
      return now_ns() - begin_ns;
    };
    for (std::int64_t all_ns = round_ns(); all_ns < request.least_ns / kDroppedPart;) all_ns += round_ns();
    for (std::int64_t all_ns = 0; is_short(run.compute_ns.size(), all_ns, request);) {
      run.compute_ns.push_back(round_ns());
      all_ns += run.compute_ns.back();
    }
    if (auto memory = backend.memory_of(blocks)) {
      memory->tensors_bytes += watch.most();
      run.memory_bytes = memory->total();
    }
    const auto least_ns = *std::min_element(run.compute_ns.begin(), run.compute_ns.end());
    reply.runs.push_back(std::move(run));
    if (request.enough_ns > 0 && least_ns > request.enough_ns) break;
  }
  return reply;
}

CodecTimes time_codecs(const TimeCodecs& request, Backend& backend) {
  check(request);
  backend.load(request.model, {0, request.block_count});
  const auto activation = crossing_at(request.cut, request.model, backend);
  CodecTimes reply;
  for (const auto& codec : request.codecs) {
    reply.codecs.push_back(time_codec(codec, activation, request.cut, request.rounds, backend));
  }
  return reply;
}

}  // namespace paretopipe::stage
