// Batches dealt out to devices that each hold the whole model, in one process: the source deals, every other device is
// the second stage of a pipeline of two.
#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/dealer.hpp>
#include <paretopipe/stage/progress.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>

#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>
#include <support/wait_for.hpp>

#include "ring.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using stage::RunOutcome;

namespace {

struct StarSetup {
  int devices = 3;
  int warmup = 1;
  int batches = 7;
  int depth = 4;
  int micro_batches = 1;
  std::vector<std::string> faults{};  ///< of the devices' backends
  experiment::Phases phases = experiment::Phases::both;
};

std::vector<stage::Run> make_star_runs(const StarSetup& setup) {
  auto source = make_runs({.splits = {},
                           .warmup = setup.warmup,
                           .batches = setup.batches,
                           .depth = setup.depth,
                           .micro_batches = setup.micro_batches,
                           .phases = setup.phases})
                    .front();
  source.stage_count = setup.devices;
  source.devices = setup.devices;
  std::vector<stage::Run> runs{source};
  for (int device = 1; device < setup.devices; ++device) {
    auto run = source;
    run.stage_count = 2;
    run.device = device;
    run.incoming = {make_references(1).inputs.front().spec};
    run.warmup = 0;
    run.batches = static_cast<int>(source.deal().share_of(static_cast<std::size_t>(device)));
    runs.push_back(run);
  }
  return runs;
}

/// The source and its devices, each on a thread of its own.
class Star {
 public:
  Star(const StarSetup& setup, Ring::Connect connect) : runs_(make_star_runs(setup)), references_(make_references(3)) {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      backends_.push_back(make_backend(i < setup.faults.size() ? setup.faults[i] : ""));
      if (i == 0) continue;
      there_.push_back(connect());
      back_.push_back(connect());
    }
  }

  std::vector<std::future<RunOutcome>> start() {
    std::vector<std::future<RunOutcome>> outcomes;
    outcomes.push_back(std::async(std::launch::async, [this] {
      std::vector<stage::Neighbours> neighbours;
      for (std::size_t i = 0; i < there_.size(); ++i) neighbours.push_back({&back_[i].second, &there_[i].first});
      return stage::run_dealer(runs_.front(), *backends_.front(), neighbours, references_, &progress_);
    }));
    for (std::size_t i = 1; i < runs_.size(); ++i) {
      outcomes.push_back(std::async(std::launch::async, [this, i] {
        const stage::Neighbours neighbours{&there_[i - 1].second, &back_[i - 1].first};
        return stage::run_pipeline(runs_[i], *backends_[i], neighbours, nullptr);
      }));
    }
    return outcomes;
  }

  std::vector<RunOutcome> run() {
    std::vector<RunOutcome> finished;
    for (auto& outcome : start()) finished.push_back(outcome.get());
    return finished;
  }

  const stage::ReferenceSet& references() const { return references_; }

  /// The source's thread that receives the device's results. Absent if no run is under way.
  std::optional<stage::LaneReport> receiving_from(int device) const {
    const auto where = progress_.where();
    for (const auto& lane : where.lanes) {
      if (lane.role == stage::Role::receive && lane.peer == device) return lane;
    }
    return std::nullopt;
  }

 private:
  stage::Progress progress_;  ///< of the source
  std::vector<stage::Run> runs_;
  stage::ReferenceSet references_;
  std::vector<std::unique_ptr<stage::Backend>> backends_;
  std::deque<std::pair<wire::Link, wire::Link>> there_;  ///< from the source (first) to the device (second)
  std::deque<std::pair<wire::Link, wire::Link>> back_;   ///< from the device (first) to the source (second)
};

/// In one phase: every device has its share, and what it received was sent to it, and came back, in that order.
void require_phase(const std::vector<RunOutcome>& outcomes, const StarSetup& setup,
                   StageTimeline stage::RunReport::*phase, ResultTimeline stage::RunReport::*results) {
  const auto micro_batches = static_cast<std::size_t>(setup.micro_batches);
  const Deal deal{outcomes.size(), static_cast<std::size_t>(setup.warmup + setup.batches)};
  const auto& source = outcomes.front().report.*phase;
  const auto& back = outcomes.front().report.*results;
  REQUIRE(source.ready.size() == deal.phase_batches * micro_batches);
  for (std::size_t device = 0; device < deal.devices; ++device) {
    const auto& own_side = outcomes[device].report.*phase;
    if (device > 0) REQUIRE(own_side.ready.size() == deal.share_of(device) * micro_batches);
    for (std::size_t own = 0; own < deal.share_of(device) * micro_batches; ++own) {
      CAPTURE(device, own);
      const auto entry = deal.batch_of(device, own / micro_batches) * micro_batches + own % micro_batches;
      const auto at = device == 0 ? entry : own;
      REQUIRE(source.ready[entry] > 0);
      REQUIRE(source.send_begin[entry] >= source.ready[entry]);
      if (device > 0) REQUIRE(own_side.receive_begin[at] >= source.send_begin[entry]);
      REQUIRE(own_side.compute_begin[at] >= own_side.ready[at]);
      REQUIRE(own_side.compute_end[at] >= own_side.compute_begin[at]);
      REQUIRE(back.receive_begin[entry] >= own_side.send_begin[at]);
      REQUIRE(back.completed[entry] >= back.receive_end[entry]);
    }
  }
}

/// At no moment are more than `depth` batches between hand-over and completion.
void require_depth(const stage::RunReport& source, std::size_t depth, std::size_t micro_batches) {
  const auto& handed_over = source.offline.ready;
  const auto& completed = source.offline_results.completed;
  for (std::size_t i = 0; i < handed_over.size(); i += micro_batches) {
    std::size_t in_flight = 0;
    for (std::size_t j = 0; j < handed_over.size(); j += micro_batches) {
      in_flight += handed_over[j] <= handed_over[i] && completed[j + micro_batches - 1] > handed_over[i] ? 1U : 0U;
    }
    REQUIRE(in_flight <= depth);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("every batch is computed by the device that is its turn, and comes back right", "", TcpLoopback,
                   Socketpair) {
  for (const auto& setup :
       {StarSetup{.devices = 2}, StarSetup{.devices = 3}, StarSetup{.devices = 3, .depth = 1},
        StarSetup{.devices = 4, .warmup = 0, .batches = 8, .depth = 16}, StarSetup{.devices = 3, .micro_batches = 2}}) {
    CAPTURE(setup.devices, setup.depth, setup.micro_batches);
    Star star(setup, &TestType::connect);
    const auto outcomes = star.run();
    require_phase(outcomes, setup, &stage::RunReport::single_stream, &stage::RunReport::single_stream_results);
    require_phase(outcomes, setup, &stage::RunReport::offline, &stage::RunReport::offline_results);
    const auto& source = outcomes.front().report;
    require_depth(source, static_cast<std::size_t>(setup.depth), static_cast<std::size_t>(setup.micro_batches));
    CHECK(source.max_abs_difference == 0);
    CHECK(source.top1_agreement == 1);
    REQUIRE(outcomes.front().last_batch.size() == static_cast<std::size_t>(setup.micro_batches));
    const auto last =
        2 * static_cast<std::size_t>(setup.warmup + setup.batches) * static_cast<std::size_t>(setup.micro_batches);
    const auto& outputs = star.references().outputs;
    CHECK(std::ranges::equal(outcomes.front().last_batch.back().bytes, outputs[(last - 1) % outputs.size()].bytes));
  }
}

TEST_CASE("dealt out in one phase only, every device has its share of that phase and of no other") {
  const StarSetup offline{.devices = 3, .micro_batches = 2, .phases = experiment::Phases::offline};
  const auto loaded = Star(offline, &Socketpair::connect).run();
  require_phase(loaded, offline, &stage::RunReport::offline, &stage::RunReport::offline_results);
  require_depth(loaded.front().report, 4, 2);
  const StarSetup alone{.devices = 3, .phases = experiment::Phases::single_stream};
  const auto outcomes = Star(alone, &Socketpair::connect).run();
  require_phase(outcomes, alone, &stage::RunReport::single_stream, &stage::RunReport::single_stream_results);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CHECK(outcomes[i].report.offline == StageTimeline{});
    CHECK(loaded[i].report.single_stream == StageTimeline{});
    CHECK(outcomes[i].report.max_abs_difference + loaded[i].report.max_abs_difference == 0);
  }
}

TEST_CASE("with one batch in flight the next is handed over when the one before is back") {
  const StarSetup setup{.devices = 3};
  const auto source = Star(setup, &Socketpair::connect).run().front().report;
  for (std::size_t i = 1; i < source.single_stream.ready.size(); ++i) {
    CHECK(source.single_stream.ready[i] >= source.single_stream_results.completed[i - 1]);
  }
}

TEST_CASE("a wrong result of one device is noticed, and is the only one") {
  Star star({.devices = 3, .faults = {"", "", "wrong@0-3@2"}}, &Socketpair::connect);
  const auto source = star.run().front().report;
  CHECK(source.max_abs_difference > 0);
  CHECK(source.single_stream_results.completed.size() == 8);
}

TEST_CASE("the device whose block breaks says so, and all the others lose a peer or their links") {
  const std::size_t culprit = GENERATE(0U, 1U, 2U);
  CAPTURE(culprit);
  StarSetup setup;
  setup.faults.resize(3);
  setup.faults[culprit] = "throw@0-3@2";
  Star star(setup, &Socketpair::connect);
  auto outcomes = star.start();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CAPTURE(i);
    const auto message = support::message_of<Error>([&] { outcomes[i].get(); });
    CHECK(message != "(nothing was thrown)");
    CHECK(support::contains(message, "broke on purpose") == (i == culprit));
  }
}

TEST_CASE("the source does not seem to wait for a device that is through, however long another one takes") {
  const support::TemporaryFolder folder;
  const auto gate = folder.path() / "gate";
  Star star({.devices = 3,
             .warmup = 0,
             .batches = 6,
             .faults = {"", "", "gate@0-3@1@" + gate.string()},
             .phases = experiment::Phases::offline},
            &Socketpair::connect);
  auto outcomes = star.start();
  const auto fast = support::wait_for([&] { return star.receiving_from(1); },
                                      [&](const std::optional<stage::LaneReport>& lane) {
                                        return lane && lane->done == 2 && lane->doing == stage::Doing::held_up &&
                                               std::filesystem::exists(gate);
                                      });
  const auto slow = star.receiving_from(2);
  std::filesystem::remove(gate);
  for (auto& outcome : outcomes) outcome.get();
  REQUIRE(fast.has_value());
  CHECK(fast->done == 2);
  CHECK(fast->doing == stage::Doing::held_up);
  REQUIRE(slow.has_value());
  CHECK(slow->doing == stage::Doing::waiting);
}
