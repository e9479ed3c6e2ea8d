#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/partition.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

std::string times(int count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string_view to_string(Scheme scheme) {
  return word_of(kSchemes, scheme);
}

PartitionChoice parse_partition(const std::string& text, int stages) {
  if (text == "all") return AllPartitions{};
  if (text == "best") return AllPartitions{.best = true};
  if (const auto scheme = find_word(kSchemes, text)) return *scheme;
  const auto names = all_words(kSchemes);
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
