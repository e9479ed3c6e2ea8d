// Which tolerance the results of a trial get.
#include <paretopipe/run/finish_record.hpp>

#include <array>

#include <support/catch.hpp>

using namespace paretopipe;
using experiment::Cpus;

TEST_CASE("an unsplit model that did without stage 0's GPU, or with fewer threads, was computed on another kind") {
  const auto kind = [](const nlohmann::json& unsplit) {
    std::array<stage::Configured, 2> stages;
    stages[0].compute = {{"device", "cuda:0"}, {"threads", 4}};
    stages[1].compute = {{"device", "cpu"}, {"threads", 2}};
    stage::Configured process;
    process.compute = unsplit;
    return run::cpus_of(stages, process);
  };
  CHECK(kind({{"device", "cuda:0"}, {"threads", 4}}) == Cpus::of_one_kind);
  CHECK(kind({{"device", "cpu"}, {"threads", 4}}) == Cpus::of_several_kinds);
  CHECK(kind({{"device", "cuda:0"}, {"threads", 3}}) == Cpus::of_several_kinds);
  CHECK(kind(nullptr) == Cpus::of_one_kind);  // a backend that does not say
}
