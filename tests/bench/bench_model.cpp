// One side of the comparison with others (compare_compute.py): prints a line when the model is
// ready, then for each line on stdin, a number n, runs n batches of the unsplit model and prints the nanoseconds that
// they took.
#include <paretopipe/compute/zoo/model_backend.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

int main(int argc, char** argv) {
  using namespace paretopipe;
  if (argc != 3 && argc != 4) {
    fmt::print(stderr, "usage: bench-model MODEL BATCH [eager|optimized]\n");
    return 2;
  }
  try {
    const auto backend = zoo::make_model_backend();
    backend->configure({});
    stage::ModelRequest request{argv[1], 1000, std::atoi(argv[2]), 1, "random", ""};
    if (argc == 4) request.compute.compute = experiment::parse_compute(argv[3]);
    const experiment::BlockRange all{0, backend->describe(request).block_count()};
    backend->load(request, all);
    const auto inputs = backend->make_inputs(request, 1);
    backend->prepare(all, {inputs.front().spec});
    fmt::print("ready\n");
    std::fflush(stdout);
    for (int batches = 0; std::cin >> batches;) {
      const auto begin = now_ns();
      for (int i = 0; i < batches; ++i) backend->forward(all, inputs.front());
      fmt::print("{}\n", now_ns() - begin);
      std::fflush(stdout);
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "bench-model: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
