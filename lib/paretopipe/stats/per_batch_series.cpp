#include <paretopipe/stats/per_batch_series.hpp>

#include <cstddef>
#include <numeric>

namespace paretopipe::stats {

Series of_last_micro_batches(const Series& series, int micro_batches) {
  const auto step = static_cast<std::size_t>(micro_batches);
  Series last;
  for (auto i = step - 1; i < series.size(); i += step) last.push_back(series[i]);
  return last;
}

Series sums_over_micro_batches(const Series& series, int micro_batches) {
  Series sums;
  for (auto begin = series.begin(); series.end() - begin >= micro_batches; begin += micro_batches) {
    sums.push_back(std::accumulate(begin, begin + micro_batches, std::int64_t{0}));
  }
  return sums;
}

}  // namespace paretopipe::stats
