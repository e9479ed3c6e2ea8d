#include <paretopipe/host/judgements.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::host {
namespace {

Finding judge_stage_program(const Observations& seen) {
  Finding finding{.name = "stage program",
                  .level = Level::ok,
                  .observed = seen.stage_program.value_or(seen.stage_program_error),
                  .why = "every stage is a process of this program; without it nothing can be measured",
                  .remedy = ""};
  if (!seen.stage_program) {
    finding.level = Level::problem;
    finding.remedy = "scripts/quickstart builds it";
  } else if (!seen.missing_libraries.empty()) {
    finding.level = Level::problem;
    finding.observed += fmt::format(" does not find {}", fmt::join(seen.missing_libraries, ", "));
    finding.remedy = "run scripts/setup, or add the folder of the missing libraries to LD_LIBRARY_PATH";
  }
  return finding;
}

Finding judge_blas(const Blas& blas) {
  Finding finding{
      .name = "BLAS",
      .level = Level::ok,
      .observed = blas.library,
      .why = "LibTorch leaves matrix products to it: reference BLAS reaches 2 GFLOP/s where OpenBLAS reaches 120",
      .remedy = ""};
  if (blas.kind == Blas::Kind::bundled) finding.observed = "brought along by LibTorch";
  if (blas.kind == Blas::Kind::reference) {
    finding.level = Level::problem;
    finding.observed = fmt::format("reference BLAS ({})", blas.library);
    finding.remedy =
        "sudo apt-get install libopenblas0-openmp; if it is installed, choose it with "
        "update-alternatives --config libblas.so.3-$(gcc -print-multiarch)";
  }
  return finding;
}

Finding judge_data_set(bool present) {
  return {
      .name = "data set",
      .level = present ? Level::ok : Level::warning,
      .observed = present ? "Fashion-MNIST is installed" : "Fashion-MNIST is not installed",
      .why = "it is the default input of a sweep",
      .remedy = present
                    ? ""
                    : "sudo apt-get install dataset-fashion-mnist, or sweep with --data cifar10:DIR or --data random"};
}

Finding judge_network_tools(const std::vector<std::string>& missing) {
  return {
      .name = "network tools",
      .level = missing.empty() ? Level::ok : Level::note,
      .observed = missing.empty() ? "ip and tc are installed" : fmt::format("missing: {}", fmt::join(missing, ", ")),
      .why = "they are needed to measure under a shaped network; the bare network needs neither",
      .remedy = missing.empty() ? "" : "sudo apt-get install iproute2"};
}

}  // namespace

std::vector<Finding> judge_installation(const Observations& seen) {
  std::vector<Finding> findings{judge_stage_program(seen)};
  if (seen.blas) findings.push_back(judge_blas(*seen.blas));
  findings.push_back(judge_data_set(seen.fashion_mnist));
  findings.push_back(judge_network_tools(seen.missing_programs));
  return findings;
}

}  // namespace paretopipe::host
