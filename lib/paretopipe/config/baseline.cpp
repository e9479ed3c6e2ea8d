#include <paretopipe/config/baseline.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/suggest.hpp>

#include <string>
#include <vector>

#include <fmt/format.h>

namespace paretopipe::config {

Baseline parse_baseline(const std::string& text) {
  if (text == "single") return Baseline::single;
  if (text == "sequential") return Baseline::sequential;
  if (text == "data-parallel") return Baseline::data_parallel;
  throw UsageError(fmt::format("\"{}\" is not a baseline; it must be single, sequential or data-parallel{}", text,
                               did_you_mean(text, std::vector<std::string>{"single", "sequential", "data-parallel"})));
}

}  // namespace paretopipe::config
