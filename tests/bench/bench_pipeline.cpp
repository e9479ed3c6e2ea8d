// The promises about links, pipeline and start-up, each measured side by side with its bound. Run through
// scripts/figures; `bench-pipeline micro-batches server` measures these parts only.
#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/child_process.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "benches.hpp"
#include "report.hpp"

namespace {

using namespace paretopipe;

using Parts = std::vector<std::pair<std::string, std::function<void()>>>;

Parts all_parts(const std::filesystem::path& stage_program) {
  return {{"startup", [=] { bench::bench_startup(stage_program.parent_path() / "paretopipe"); }},
          {"link", [] { bench::bench_link(); }},
          {"pipeline", [=] { bench::bench_pipeline(stage_program); }},
          {"sweeps", [=] { bench::bench_sweeps(stage_program); }},
          {"micro-batches", [=] { bench::bench_micro_batches(stage_program); }},
          {"training", [=] { bench::bench_training(stage_program); }},
          {"server", [=] { bench::bench_server(stage_program); }}};
}

/// Those of the names, or all where none is named.
Parts choose(Parts parts, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const bool known = std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return part.first == name; });
    if (!known) throw UsageError(fmt::format("\"{}\" is no part of this benchmark", name));
  }
  if (names.empty()) return parts;
  std::erase_if(parts,
                [&](const auto& part) { return std::find(names.begin(), names.end(), part.first) == names.end(); });
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto parts = choose(all_parts(launch::find_stage_program()), {argv + 1, argv + argc});
    for (const auto& [name, measure] : parts) measure();
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "bench-pipeline: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
