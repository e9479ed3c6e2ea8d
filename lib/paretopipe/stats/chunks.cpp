#include <paretopipe/stats/chunks.hpp>

#include <cstddef>
#include <numeric>

namespace paretopipe::stats {

Series of_last_chunks(const Series& series, int chunks) {
  const auto step = static_cast<std::size_t>(chunks);
  Series last;
  for (auto i = step - 1; i < series.size(); i += step) last.push_back(series[i]);
  return last;
}

Series sums_over_chunks(const Series& series, int chunks) {
  Series sums;
  for (auto begin = series.begin(); series.end() - begin >= chunks; begin += chunks) {
    sums.push_back(std::accumulate(begin, begin + chunks, std::int64_t{0}));
  }
  return sums;
}

}  // namespace paretopipe::stats
