#include <paretopipe/analysis/diagnosis/demands.hpp>
#include <paretopipe/core/error.hpp>

#include <random>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "simulated.hpp"

using namespace paretopipe;
using namespace paretopipe::diagnosis;
using namespace paretopipe::testing;

namespace {

const Pipeline kThreeStages{
    .compute = {300'000, 500'000, 200'000}, .link = {100'000, 400'000, 50'000}, .delay = {0, 0, 0}, .source = 20'000};

}  // namespace

TEST_CASE("the time that stages, links and the source are busy with a batch is found") {
  const auto demands = demands_of(record_of(kThreeStages));
  REQUIRE(demands.stages.size() == 3);
  REQUIRE(demands.links.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(demands.stages[i].busy.mean_ns == Approx(kThreeStages.compute[i]));
    CHECK(demands.stages[i].busy.p90_ns == Approx(kThreeStages.compute[i]));
    CHECK(demands.links[i].busy.mean_ns == Approx(kThreeStages.link[i]));
    CHECK(demands.stages[i].idle_compute_ns == Approx(kThreeStages.compute[i]));
  }
  CHECK(demands.source_ns == Approx(20'000));
  CHECK(demands.unqueued_ns() == Approx(1'570'000));
  CHECK(demands.period_ns() == Approx(500'000));
  CHECK(demands.batches == 399);
  CHECK_FALSE(demands.stages_share_cpus);
  const auto alone = demands_of(record_of({.compute = {700'000}, .source = 30'000}));
  CHECK(alone.stages.size() == 1);
  CHECK(alone.links.empty());
  CHECK(alone.source_ns == Approx(30'000));
  CHECK(alone.period_ns() == Approx(730'000));
}

TEST_CASE("a link's delay keeps no batch off it, whether frames arrive as a stream or whole") {
  auto pipeline = kThreeStages;
  pipeline.delay = {3'000'000, 3'000'000, 7'000'000};
  pipeline.depth = 40;
  pipeline.whole_frames = GENERATE(false, true);
  const auto demands = demands_of(record_of(pipeline));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(demands.links[i].busy.mean_ns == Approx(pipeline.link[i]));
    CHECK(demands.links[i].delay_ns == Approx(pipeline.delay[i]));
  }
}

TEST_CASE("a receiver that takes no more does not make its link busy") {
  const Pipeline pipeline{
      .compute = {100'000, 900'000}, .link = {200'000, 50'000}, .delay = {0, 0}, .depth = 12, .receive_buffers = 3};
  const auto record = record_of(pipeline);
  const auto b = 300U;  // lies long before the receiver, who has no buffer for it
  REQUIRE(record.offline->stages[1].ready[b] - record.offline->stages[0].send_begin[b] > 3'000'000);
  CHECK(demands_of(record).links[0].busy.mean_ns == Approx(200'000));
}

TEST_CASE("the parts of the idle latency add up to what the record says") {
  using Times = std::vector<std::int64_t>;
  std::mt19937 random(7);
  for (std::size_t stages = 1; stages <= 4; ++stages) {
    const std::size_t links = stages == 1 ? 0 : stages;
    auto record = record_of({.compute = Times(stages, 1000), .link = Times(links, 500), .delay = Times(links, 0)});
    record.single_stream = random_samples(random, static_cast<int>(stages), 20, 3);
    record = summarised(std::move(record));
    const auto idle = demands_of(record).idle;
    CHECK(idle.total_ns() == Approx(record.summary->latency->mean_ns));
    CHECK((idle.transfer_ns == 0) == (stages == 1));
  }
}

TEST_CASE("where all batches were in flight at once, the source's time is not known") {
  const Pipeline pipeline{
      .compute = {1000, 2000}, .link = {10, 10}, .delay = {0, 0}, .depth = 8, .batches = 6, .warmup = 2};
  const auto demands = demands_of(record_of(pipeline));
  CHECK(demands.in_flight == 8);
  CHECK_FALSE(demands.source_ns.has_value());
  auto deeper = pipeline;
  deeper.depth = 1000;
  CHECK(demands_of(record_of(deeper)).in_flight == 8);  // no more than there are
}

TEST_CASE("stages on one CPU are noticed, but not those without blocks") {
  auto record = record_of(kThreeStages);
  record.stages[0].cpus = "0-1";
  CHECK(demands_of(record).stages_share_cpus);
  record.stages[1].blocks = {1, 1};
  CHECK_FALSE(demands_of(record).stages_share_cpus);
}

TEST_CASE(
    "a link within a device has nothing of the network, and one back towards the source its backward conditions") {
  auto pipeline = kThreeStages;
  pipeline.delay = {1000, 1000, 3000};
  auto record = record_of(pipeline);
  record.network->read_back.forward.rate_bit_per_s = 1'000'000'000;
  record.network->read_back.backward.rate_bit_per_s = 2'000'000'000;
  record.trial.placement = {0, 1, 0};
  const auto links = demands_of(record).links;
  CHECK(links.at(0).rate_bit_per_s == 1'000'000'000);
  CHECK(links.at(1).rate_bit_per_s == 2'000'000'000);
  CHECK_FALSE(links.at(2).rate_bit_per_s.has_value());
  CHECK(links.at(0).delay_ns == 1000);
  CHECK(links.at(1).delay_ns == 3000);
  CHECK(links.at(2).delay_ns == 0);
}

TEST_CASE("the median over repetitions is that of every number") {
  std::vector<Demands> repetitions;
  for (const std::int64_t factor : {1, 9, 2}) {
    auto pipeline = kThreeStages;
    pipeline.link[1] *= factor;
    pipeline.compute[0] *= 10 / factor;
    repetitions.push_back(demands_of(record_of(pipeline)));
  }
  const auto median = median_demands(repetitions);
  CHECK(median.links[1].busy.mean_ns == Approx(800'000));
  CHECK(median.stages[0].busy.mean_ns == Approx(1'500'000));
  CHECK(median.source_ns == Approx(20'000));
  CHECK_THROWS_AS(median_demands({}), std::invalid_argument);
}

TEST_CASE("records without a measurement that counts, and damaged ones, are refused") {
  CHECK_THROWS_AS(demands_of(make_failure(make_trial(3), "gone")), UsageError);
  const auto good = record_of(kThreeStages);
  for (const auto damage : {+[](record::TrialRecord& record) { record.status = record::Status::invalid; },
                            +[](record::TrialRecord& record) { record.offline.reset(); },
                            +[](record::TrialRecord& record) { record.summary.reset(); },
                            +[](record::TrialRecord& record) { record.offline->stages[1].ready.pop_back(); },
                            +[](record::TrialRecord& record) { record.single_stream->stages.pop_back(); },
                            +[](record::TrialRecord& record) { record.links.clear(); },
                            +[](record::TrialRecord& record) { record.trial.split_points = {1}; },
                            +[](record::TrialRecord& record) { record.stages[1].cpus = "first"; }}) {
    auto record = good;
    damage(record);
    CHECK_THROWS_AS(demands_of(record), UsageError);
  }
}
