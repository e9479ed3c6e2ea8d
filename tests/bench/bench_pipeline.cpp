// The promises about links, pipeline and start-up, each measured side by side with its bound. Run through
// scripts/bench.
#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/stage_program.hpp>

#include <cstdio>

#include "benches.hpp"
#include "report.hpp"

int main() {
  using namespace paretopipe;
  try {
    const auto stage_program = launch::find_stage_program();
    fmt::print("{:<58} {:>14}   {}\n", "measured (medians)", "", "promised");
    bench::bench_startup(stage_program.parent_path() / "paretopipe");
    bench::bench_link();
    bench::bench_pipeline(stage_program);
    bench::bench_chunks(stage_program);
    bench::bench_server(stage_program);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "bench-pipeline: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
