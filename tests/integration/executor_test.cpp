#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/record/metric.hpp>
#include <paretopipe/run/prepare_sweep.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// For every batch: the sum of the parts, and the latency.
void require_parts_to_add_up(const record::PhaseSamples& samples) {
  const auto breakdown = stats::breakdown(samples);
  for (std::size_t batch = 0; batch < breakdown.latency_ns.size(); ++batch) {
    std::int64_t sum = 0;
    for (const auto& part : breakdown.parts) {
      REQUIRE(part.ns[batch] >= 0);
      sum += part.ns[batch];
    }
    REQUIRE(sum == breakdown.latency_ns[batch]);
  }
}

void require_complete(const record::TrialRecord& record) {
  REQUIRE(record.status == record::Status::ok);
  REQUIRE(record.fidelity->max_abs_difference == 0);
  REQUIRE(record.fidelity->top1_agreement == 1);
  REQUIRE(record.fidelity->batches_compared == batches_of(record.trial));
  REQUIRE(record.summary->latency->count == record.trial.batches);
  REQUIRE(record.summary->throughput_image_per_s.value() > 0);
  require_parts_to_add_up(*record.single_stream);
  require_parts_to_add_up(*record.offline);
  REQUIRE_NOTHROW(stats::check_summary(record));
  check_survives_writing(record);
}

}  // namespace

TEST_CASE("every split, both endpoints included, runs on the same processes and gives a complete record") {
  run::PipelineExecutor executor(options_with());
  CHECK(executor.describe(trial_at({0})).block_count() == kBlocks);
  require_complete(executor.run(trial_at({0})));
  const auto processes = support::own_children();
  REQUIRE(processes.size() == 2);
  for (int split = 0; split <= kBlocks; ++split) {
    const auto trial = trial_at({split});
    const auto record = executor.run(trial);
    CAPTURE(split);
    require_complete(record);
    CHECK(record.trial == trial);
    CHECK(record.stages.size() == (split == kBlocks ? 1U : 2U));
    CHECK(record.links.size() == (split == kBlocks ? 0U : 2U));
    CHECK(record.provenance.version == "1.2.3");
    CHECK(record.provenance.started_at.size() == std::string("2026-01-01T00:00:00Z").size());
    CHECK(support::own_children() == processes);
    if (split == kBlocks) continue;
    // What the model emits at the cut, and its result.
    CHECK(record.links.at(0).payload_bytes == (split == 0 ? 3 * 32 * 32 * 4 : split == 1 ? 4000 : 64000));
    CHECK(record.links.at(1).payload_bytes == 10 * 4);
  }
}

TEST_CASE("an experiment becomes a trial of each split of each of its models, and the same stages run them") {
  experiment::Experiment experiment;
  experiment.models = {kModel, "synthetic:0ms/40B,0ms"};
  experiment.data = "random";
  experiment.cpus = {"", ""};
  experiment.batches = 6;
  experiment.warmup = 2;
  experiment.repeat.trials = 1;
  run::PipelineExecutor executor(options_with());
  const auto sweep = run::prepare_sweep(experiment, run::find_inputs(experiment), executor);
  REQUIRE(sweep.models.size() == 2);
  CHECK(sweep.models.back().block_count() == 2);
  REQUIRE(sweep.trials.size() == (kBlocks + 1) + 3);
  executor.expect(sweep.trials);
  for (const auto& trial : sweep.trials) require_complete(executor.run(trial));
}

TEST_CASE("a rest comes before every trial") {
  auto options = options_with();
  options.rest_s = 1;
  run::PipelineExecutor executor(options);
  const auto begin = Clock::now();
  require_complete(executor.run(trial_at({1})));
  CHECK(Clock::now() - begin >= std::chrono::seconds(1));
}

TEST_CASE("three stages run every pair of cuts, those that leave a stage without blocks included") {
  run::PipelineExecutor executor(options_with());
  for (int first = 0; first <= kBlocks; ++first) {
    for (int second = first; second <= kBlocks; ++second) {
      const auto record = executor.run(trial_at({first, second}));
      CAPTURE(first, second);
      require_complete(record);
      CHECK(record.stages.size() == (first == kBlocks ? 1U : 3U));
    }
  }
  CHECK(support::own_children().size() == 3);
}

TEST_CASE("batches in micro-batches run through two, three and four stages at any depth, and give complete records") {
  run::PipelineExecutor executor(options_with());
  for (const auto& splits : std::vector<std::vector<int>>{{1}, {3}, {1, 2}, {0, 3}, {1, 2, 3}, {0, 1, 2}}) {
    for (const int micro_batch : {1, 2, 8}) {
      for (const int depth : {1, 3}) {
        auto trial = trial_in_micro_batches(splits, 8, micro_batch);
        trial.depth = depth;
        CAPTURE(splits, micro_batch, depth);
        const auto record = executor.run(trial);
        require_complete(record);
        CHECK(record.trial == trial);
        CHECK(record.offline->micro_batches == 8 / micro_batch);
        CHECK(record.offline->results.completed.size() == 8U * 8 / static_cast<unsigned>(micro_batch));
      }
    }
  }
}

TEST_CASE("the payload of a link is that of all micro-batches of a batch") {
  run::PipelineExecutor executor(options_with());
  const auto links = executor.run(trial_in_micro_batches({0}, 8, 2)).links;
  CHECK(links.at(0).payload_bytes == 8 * 3 * 32 * 32 * 4);
  CHECK(links.at(0).header_bytes == 4 * 64);
  CHECK(links.at(1).payload_bytes == 8 * 10 * 4);
}

TEST_CASE("stages are told once of all the blocks that they will need") {
  run::PipelineExecutor executor(options_with());
  executor.expect({trial_at({1}), trial_at({2}), trial_at({3}), trial_at({1, 2})});
  for (const int split : {2, 1, 3, 0}) require_complete(executor.run(trial_at({split})));
}

TEST_CASE("what a split needs in memory is the same alone and after all others") {
  const int depth = GENERATE(1, 3);
  CAPTURE(depth);
  const auto at_depth = [&](int split) {
    auto trial = trial_at({split});
    trial.depth = depth;
    return trial;
  };
  const auto needed = [](const record::TrialRecord& record) {
    require_complete(record);
    std::vector<std::int64_t> bytes;
    for (const auto& stage : record.stages) bytes.push_back(stage.memory.value().total());
    return bytes;
  };
  run::PipelineExecutor all(options_with());
  std::vector<experiment::Trial> trials;
  for (int split = 0; split <= kBlocks; ++split) trials.push_back(at_depth(split));
  all.expect(trials);
  for (const auto& trial : trials) {
    CAPTURE(trial.split_points);
    run::PipelineExecutor alone(options_with());
    const auto record = all.run(trial);
    CHECK(needed(record) == needed(alone.run(trial)));
    CHECK(record::find_metric("peak_memory").value(record) > 0);
  }
}

TEST_CASE("any trial of the same stages is loaded into the same processes, with the inputs of its own batches") {
  run::PipelineExecutor executor(options_with());
  require_complete(executor.run(trial_at({1})));
  const auto processes = support::own_children();
  auto other = trial_at({1});  // another model, batch and seed
  other.model = "synthetic:0ms/40B,0ms";
  other.block_count = 2;
  other.batch = 5;
  other.seed = 9;
  auto least = trial_at({1});  // that has a throughput
  least.depth = 1;
  least.warmup = 0;
  least.batches = 2;
  auto deep = trial_at({2});  // beyond the number of batches
  deep.depth = 256;
  for (const auto& trial : {other, trial_at({2}), least, deep, trial_in_micro_batches({1}, 4, 2),
                            trial_in_micro_batches({1}, 8, 2), trial_in_micro_batches({1}, 2, 2)}) {
    require_complete(executor.run(trial));
    CHECK(support::own_children() == processes);
  }
}

TEST_CASE("another placement or thread count is another pair of processes") {
  run::PipelineExecutor executor(options_with());
  require_complete(executor.run(trial_at({1})));
  const auto processes = support::own_children();
  auto other = trial_at({1});
  other.threads_per_stage = 2;
  require_complete(executor.run(other));
  CHECK(support::own_children().size() == 2);
  CHECK(support::own_children() != processes);
}

TEST_CASE("no process outlives the executor") {
  {
    run::PipelineExecutor executor(options_with());
    require_complete(executor.run(trial_at({1})));
    REQUIRE(support::own_children().size() == 2);
  }
  CHECK(support::own_children().empty());
}
