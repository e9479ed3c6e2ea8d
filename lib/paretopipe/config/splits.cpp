#include <paretopipe/config/experiment.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/number_list.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::config {
namespace {

/// Longer than any chain of blocks; bounds what a mistyped range can allocate.
constexpr int kMaxSplitPoint = 9999;

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError(fmt::format(
      "{} is not a choice of split points; write it like \"all\", \"3\" or \"0,2-5\" (0 to {})", text, kMaxSplitPoint));
}

}  // namespace

SplitSelection parse_splits(const std::string& text) {
  if (text == "all") return {};
  auto points = parse_number_list(text, kMaxSplitPoint);
  if (!points) refuse(fmt::format("\"{}\"", text));
  return {.all = false, .points = *std::move(points)};
}

std::string to_string(const SplitSelection& splits) {
  return splits.all ? "all" : format_number_list(splits.points);
}

void to_json(nlohmann::json& json, const SplitSelection& splits) {
  json = to_string(splits);
}

void from_json(const nlohmann::json& json, SplitSelection& splits) {
  if (json.is_string()) {
    splits = parse_splits(json.get<std::string>());
    return;
  }
  if (!json.is_array() || json.empty()) refuse(json.dump());
  std::vector<int> points;
  for (const auto& item : json) {
    if (!item.is_number_integer() || item < 0 || item > kMaxSplitPoint) refuse(json.dump());
    points.push_back(item.get<int>());
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  splits = {.all = false, .points = std::move(points)};
}

}  // namespace paretopipe::config
