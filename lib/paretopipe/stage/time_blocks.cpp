#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/time_blocks.hpp>
#include <paretopipe/wire/errors.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {
namespace {

constexpr int kMostRounds = 1000;

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<std::int64_t> time_blocks(const TimeBlocks& request, Backend& backend) {
  if (request.block_count < 1 || request.rounds < 1 || request.rounds > kMostRounds) {
    throw wire::ProtocolError(
        fmt::format("the driver asked for the times of {} blocks in {} rounds", request.block_count, request.rounds));
  }
  backend.load(request.model, {0, request.block_count});
  const auto inputs = backend.make_inputs(request.model, 1);
  std::vector<std::vector<std::int64_t>> samples(static_cast<std::size_t>(request.block_count));
  for (int round = 0; round <= request.rounds; ++round) {
    auto activation = inputs.front();
    for (int block = 0; block < request.block_count; ++block) {
      const auto begin = now_ns();
      activation = backend.encode(backend.forward({block, block + 1}, std::move(activation)));
      if (round > 0) samples[static_cast<std::size_t>(block)].push_back(now_ns() - begin);
    }
  }
  std::vector<std::int64_t> times;
  for (auto& block : samples) times.push_back(median(std::move(block)));
  return times;
}

}  // namespace paretopipe::stage
