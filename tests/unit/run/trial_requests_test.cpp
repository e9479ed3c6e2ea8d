#include <paretopipe/run/trial_requests.hpp>

#include <support/catch.hpp>

#include "evidence.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

TEST_CASE("what crosses a cut has the mode's type and order, and input and result have not") {
  auto trial = trial_at({3, 7});
  trial.compute = {experiment::Compute::eager, experiment::Precision::bfloat16,
                   experiment::MemoryFormat::channels_last};
  auto model = a_model();
  model.blocks.at(2).output_shape = {1, 3, 4, 5};
  stage::Ends source;
  source.input.shape = {1, 3, 8, 8};
  source.result.shape = {1, 10};
  const auto runs = run::make_run_requests(trial, model, source, 1);
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].incoming == stage::Boundary{source.result});
  CHECK(runs[1].incoming == stage::Boundary{{wire::DType::bfloat16, wire::MemoryFormat::channels_last, {1, 3, 4, 5}}});
  CHECK(runs[2].incoming.at(0).dtype == wire::DType::bfloat16);
  const auto prepared = run::make_prepare_requests(runs, source);
  REQUIRE(prepared.size() == 3);
  CHECK(prepared[0].incoming == stage::Boundary{source.input});
  CHECK(prepared[1].incoming == runs[1].incoming);
  CHECK(prepared[2].blocks == experiment::BlockRange{7, 10});
}

TEST_CASE("where two tensors cross, a stage is told of both, and a header goes with each micro-batch of each") {
  auto model = a_model();
  model.blocks.at(2).other_shapes = {{8, 5, 6, 7}};
  auto trial = trial_at({3, 7});
  trial.compute.memory_format = experiment::MemoryFormat::channels_last;
  const auto requests = run::make_run_requests(trial, model, ends(), 1);
  REQUIRE(requests.size() == 3);
  const wire::TensorSpec first{wire::DType::float32, wire::MemoryFormat::contiguous, model.blocks.at(2).output_shape};
  const wire::TensorSpec second{wire::DType::float32, wire::MemoryFormat::channels_last, {8, 5, 6, 7}};
  CHECK(requests[1].incoming == stage::Boundary{first, second});
  CHECK(requests[2].incoming.size() == 1);
  CHECK(run::make_prepare_requests(requests, ends()).at(1).incoming == requests[1].incoming);
  trial = trial_at({3});
  trial.micro_batch = 8;
  trial.batch = 24;
  const auto samples = micro_batched(regular_samples(kAlone, 3 * (kWarmup + kBatches), kWarmup, 1), 3);
  const auto loaded_samples = micro_batched(regular_samples(kLoaded, 3 * (kWarmup + kBatches), kWarmup, 1), 3);
  auto evidence = evidence_of(samples, loaded_samples);
  evidence.model = model;
  const auto links = run::finish_record(trial, evidence).links;
  REQUIRE(links.size() == 2);
  CHECK(links[0] == record::LinkPayload{0, 1, 3 * model.blocks.at(2).activation_bytes, 3 * 2 * 64});
  CHECK(links[1].header_bytes == 3 * 64);
}

TEST_CASE("requests tell every stage its blocks and the one tensor that it may receive") {
  const auto requests = run::make_run_requests(trial_at({0, 4, 10}), a_model(), ends(), 77);
  REQUIRE(requests.size() == 4);
  const std::vector<experiment::BlockRange> blocks{{0, 0}, {0, 4}, {4, 10}, {10, 10}};
  const std::vector<wire::TensorSpec> incoming{
      ends().result, ends().input, {wire::DType::float32, wire::MemoryFormat::contiguous, {8, 4}}, ends().result};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CAPTURE(i);
    CHECK(requests[i].tag == 77);
    CHECK(requests[i].stage_count == 4);
    CHECK(requests[i].blocks == blocks[i]);
    CHECK(requests[i].incoming == stage::Boundary{incoming[i]});
    CHECK(requests[i].warmup == 2);
    CHECK(requests[i].batches == 8);
    CHECK(requests[i].depth == 4);
  }
}

TEST_CASE("where all is local only the source takes part") {
  for (const auto& splits : std::vector<std::vector<int>>{{10}, {10, 10}}) {
    const auto requests = run::make_run_requests(trial_at(splits), a_model(), ends(), 1);
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].stage_count == 1);
    CHECK(requests[0].blocks == experiment::BlockRange{0, 10});
  }
}
