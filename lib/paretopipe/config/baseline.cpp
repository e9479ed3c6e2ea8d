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
  throw UsageError(fmt::format("\"{}\" is not a baseline; it must be single or sequential{}", text,
                               did_you_mean(text, std::vector<std::string>{"single", "sequential"})));
}

}  // namespace paretopipe::config
