#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/time_runs.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

constexpr int kMostTimedRounds = 1000;

void check(const TimeRuns& request) {
  const auto& ends = request.ends;
  const bool ordered = std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<>()) == ends.end();
  if (request.rounds >= 1 && request.rounds <= kMostTimedRounds && request.begin >= 0 && !ends.empty() && ordered &&
      ends.front() > request.begin && ends.back() <= request.block_count) {
    return;
  }
  throw wire::ProtocolError(
      fmt::format("the driver asked for the times of {} runs from block {} on, of a model of {} blocks, in {} rounds",
                  ends.size(), request.begin, request.block_count, request.rounds));
}

Boundary boundary_of(const Activation& activation) {
  Boundary boundary;
  for (std::size_t i = 0; i < activation.tensors(); ++i) boundary.push_back(activation.tensor(i).spec);
  return boundary;
}

/// As if it had come over a link: a stage may overwrite its input.
Activation received_copy(const Activation& activation, const Boundary& boundary, Backend& backend) {
  auto copy = allocate(boundary, backend);
  for (std::size_t i = 0; i < activation.tensors(); ++i) {
    std::ranges::copy(activation.tensor(i).bytes, copy.tensor(i).bytes.begin());
  }
  return backend.decode(std::move(copy));
}

}  // namespace

RunTimes time_runs(const TimeRuns& request, Backend& backend) {
  check(request);
  backend.load(request.model, {0, request.block_count});
  auto input = backend.make_inputs(request.model, 1).front();
  if (request.begin > 0) input = backend.encode(backend.forward({0, request.begin}, std::move(input)));
  const auto boundary = boundary_of(input);
  RunTimes reply;
  for (const int end : request.ends) {
    const experiment::BlockRange blocks{request.begin, end};
    if (request.prepared) backend.prepare(blocks, boundary);
    const TensorWatch watch;
    RunTime run{.end = end};
    for (int round = 0; round <= request.rounds; ++round) {
      auto activation = request.begin > 0 ? received_copy(input, boundary, backend) : input;
      const auto begin_ns = now_ns();
      activation = backend.encode(backend.forward(blocks, std::move(activation)));
      if (round > 0) run.compute_ns.push_back(now_ns() - begin_ns);
    }
    if (auto memory = backend.memory_of(blocks)) {
      memory->tensors_bytes += watch.most();
      run.memory_bytes = memory->total();
    }
    reply.runs.push_back(std::move(run));
  }
  return reply;
}

}  // namespace paretopipe::stage
