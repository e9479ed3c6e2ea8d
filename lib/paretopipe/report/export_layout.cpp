#include <paretopipe/core/error.hpp>
#include <paretopipe/report/export_layout.hpp>

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "layouts.hpp"

namespace paretopipe::report {
namespace {

constexpr std::array kLayouts{
    ExportLayout{"python", "JSON as the Python tool ParetoPipe writes it, one file a split", export_python},
    ExportLayout{"trials", "trials.csv, one row a trial with all its metrics", export_trials},
    ExportLayout{"stages", "stages.csv, one row a stage of a trial with what it used", export_stages},
    ExportLayout{"batches",
                 "batches.csv, one row a batch (cut: a micro-batch) with every moment and part of its latency",
                 export_batches},
    ExportLayout{"load", "load.csv, one row a rate of the Server scenario with its latencies", export_load},
    ExportLayout{"jsonl", "trials.jsonl, one flat JSON object a trial with all its metrics", export_jsonl},
    ExportLayout{"trace", "one trial on a time line, for Perfetto or chrome://tracing", export_trace},
};

}  // namespace

std::span<const ExportLayout> export_layouts() {
  return kLayouts;
}

const ExportLayout& find_export_layout(std::string_view name) {
  const auto* found =
      std::find_if(kLayouts.begin(), kLayouts.end(), [&](const auto& layout) { return layout.name == name; });
  if (found != kLayouts.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& layout : kLayouts) names.push_back(layout.name);
  throw UsageError(fmt::format("\"{}\" is not an export layout; known: {}", name, fmt::join(names, ", ")));
}

}  // namespace paretopipe::report
