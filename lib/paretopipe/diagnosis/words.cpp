#include "words.hpp"

#include <paretopipe/report/format.hpp>

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::diagnosis {

std::string name_of(const Constraint& constraint) {
  switch (constraint.kind) {
    case Kind::compute:
      return fmt::format("compute of stage {}", constraint.stage);
    case Kind::link:
      return fmt::format("the link from stage {} to stage {}", constraint.stage, constraint.stage + 1);
    case Kind::way_back:
      return fmt::format("the way back from stage {} to stage 0", constraint.stage);
    case Kind::source:
      return "the source";
    case Kind::depth:
      break;
  }
  return "the number of batches in flight";
}

std::string duration(double nanoseconds) {
  return report::format_value(nanoseconds, "ns");
}

std::string rate(double image_per_s) {
  return report::format_value(image_per_s, "image/s");
}

std::string bytes(double count) {
  return report::format_value(count, "B");
}

std::string percent(double share) {
  const double value = share * 100;
  return fmt::format("{:.{}f} %", value, value == 0 || std::abs(value) >= 9.95 ? 0 : 1);
}

std::string times(double factor) {
  return fmt::format("{:.2f} times", factor);
}

std::string numbered(int block, const GroupDiagnosis& group) {
  const auto found = group.block_names.find(block);
  return found == group.block_names.end() ? std::to_string(block) : fmt::format("{} ({})", block, found->second);
}

std::string way_to_cut(const plan::Trial& trial, const GroupDiagnosis& group) {
  if (trial.all_local()) return "not splitting";
  if (trial.all_remote()) {
    const int farthest = config::farthest_stage(trial.placement, trial.stage_count());
    return farthest + 1 == trial.stage_count() ? "leaving all to the last stage"
                                               : fmt::format("leaving all to stage {}", farthest);
  }
  std::vector<std::string> cuts;
  for (const int block : trial.split_points) cuts.push_back(numbered(block, group));
  if (cuts.size() == 1) return "a cut after block " + cuts.front();
  const auto last = std::move(cuts.back());
  cuts.pop_back();
  return fmt::format("cuts after blocks {} and {}", fmt::join(cuts, ", "), last);
}

}  // namespace paretopipe::diagnosis
