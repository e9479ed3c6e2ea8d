#include <paretopipe/core/deal.hpp>
#include <paretopipe/stats/dealt.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paretopipe::stats {

record::PhaseSamples of_device(const record::PhaseSamples& samples, int device) {
  const auto micro_batches = static_cast<std::size_t>(samples.micro_batches);
  const auto batches = samples.results.completed.size() / micro_batches;
  const Deal deal{static_cast<std::size_t>(samples.devices), batches};
  record::PhaseSamples own;
  own.depth = samples.depth;
  own.micro_batches = samples.micro_batches;
  own.stages.resize(samples.stages.size());
  const auto append = [&](std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from, std::size_t batch) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(batch * micro_batches);
    to.insert(to.end(), begin, begin + samples.micro_batches);
  };
  for (std::size_t batch = 0; batch < batches; ++batch) {
    if (deal.device_of(batch) != static_cast<std::size_t>(device)) continue;
    if (batch < static_cast<std::size_t>(samples.warmup)) ++own.warmup;
    for (std::size_t s = 0; s < own.stages.size(); ++s) {
      for (const auto moment : kStageMoments) append(own.stages[s].*moment, samples.stages[s].*moment, batch);
    }
    for (const auto moment : kResultMoments) append(own.results.*moment, samples.results.*moment, batch);
  }
  return own;
}

}  // namespace paretopipe::stats
