#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/partition.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const auto scheme : all_schemes()) names.emplace_back(to_string(scheme));
  return names;
}

std::string times(int count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string_view to_string(Scheme scheme) {
  switch (scheme) {
    case Scheme::equal_load:
      return "equal-load";
    case Scheme::front_load:
      return "front-load";
    case Scheme::front_heavy:
      return "front-heavy";
    case Scheme::middle_load:
      return "middle-load";
    case Scheme::end_load:
      return "end-load";
    case Scheme::end_heavy:
      return "end-heavy";
    case Scheme::equal_time:
      return "equal-time";
  }
  return "";
}

const std::vector<Scheme>& all_schemes() {
  static const std::vector<Scheme> schemes{Scheme::equal_load,  Scheme::front_load, Scheme::front_heavy,
                                           Scheme::middle_load, Scheme::end_load,   Scheme::end_heavy,
                                           Scheme::equal_time};
  return schemes;
}

PartitionChoice parse_partition(const std::string& text, int stages) {
  if (text == "all") return AllPartitions{};
  if (text == "best") return AllPartitions{.best = true};
  for (const auto scheme : all_schemes()) {
    if (text == to_string(scheme)) return scheme;
  }
  const auto names = scheme_names();
  auto points = parse_numbers(text);
  if (!points) {
    throw UsageError(
        fmt::format("\"{}\" is not a partition; it must be all, best, split points such as 4,9,14, or one of {}{}",
                    text, fmt::join(names, ", "), did_you_mean(text, names)));
  }
  if (static_cast<int>(points->size()) != stages - 1) {
    throw UsageError(fmt::format("the partition {} has {}; {} need {}", text,
                                 times(static_cast<int>(points->size()), "split point"), times(stages, "stage"),
                                 stages - 1));
  }
  if (!std::is_sorted(points->begin(), points->end())) {
    throw UsageError(fmt::format("the split points of the partition {} must ascend", text));
  }
  return *std::move(points);
}

}  // namespace paretopipe::experiment
