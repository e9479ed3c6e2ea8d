// "Where are you": what a stage answers while it does something else.
#include <paretopipe/stage/progress.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>
#include <support/wait_for.hpp>

#include "served_stage.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace paretopipe::stage;
using namespace std::chrono_literals;

namespace {

/// The second of three stages, whose neighbours are this test.
class MiddleStage {
 public:
  MiddleStage() {
    progress_.configure(1);
    done_ = std::async(std::launch::async, [this] {
      return run_pipeline(run_, *backend_, {&in_.second, &out_.first}, nullptr, &progress_);
    });
  }
  ~MiddleStage() {
    in_.first.shutdown();
    out_.second.shutdown();
  }

  wire::Link& previous() { return in_.first; }
  wire::Link& next() { return out_.second; }
  const Run& run() const { return run_; }

  Whereabouts wait_until(Role role, Doing doing, std::int64_t done) {
    return support::wait_for([this] { return progress_.where(); },
                             [=](const Whereabouts& where) {
                               return where.lanes.size() == 3 && lane(where, role).doing == doing &&
                                      lane(where, role).done == done;
                             });
  }

  /// Until every thread waits for the second batch. Before that, the threads' answers are not of one moment.
  Whereabouts wait_until_idle() {
    return support::wait_for([this] { return progress_.where(); },
                             [](const Whereabouts& where) {
                               return where.lanes.size() == 3 &&
                                      std::ranges::all_of(where.lanes, [](const LaneReport& lane) {
                                        return lane.doing == Doing::waiting && lane.done == 1;
                                      });
                             });
  }

  static LaneReport lane(const Whereabouts& where, Role role) { return where.lanes.at(static_cast<std::size_t>(role)); }

  Whereabouts where() const { return progress_.where(); }
  void wait() { done_.get(); }

 private:
  const Run run_ = make_runs({.splits = {1, 2}, .warmup = 0, .batches = 1, .depth = 1, .micro_batches = 1}).at(1);
  std::unique_ptr<Backend> backend_ = make_backend();
  std::pair<wire::Link, wire::Link> in_ = wire::make_link_pair();
  std::pair<wire::Link, wire::Link> out_ = wire::make_link_pair();
  Progress progress_;
  std::future<RunOutcome> done_;
};

}  // namespace

TEST_CASE("a stage that was asked for nothing yet says that no run is under way") {
  ServedStage stage;
  const auto where = stage.ask<Whereabouts>(WhereAreYou{});
  CHECK(where.lanes.empty());
  CHECK(where.longest_compute_ns == 0);
  CHECK(where.at_ns > 0);
}

TEST_CASE("a stage that is stuck in a block says so as often as it is asked, and then ends its run") {
  const support::TemporaryFolder folder;
  const auto gate = folder.path() / "gate";
  ServedStage stage("gate@0-3@3@" + gate.string());  // after two batches
  stage.make_source(2);
  stage.send(lone_run());
  const auto stuck = support::wait_for([&] { return stage.ask<Whereabouts>(WhereAreYou{}); },
                                       [&](const Whereabouts& where) {
                                         return std::filesystem::exists(gate) && !where.lanes.empty() &&
                                                where.lanes[0].done == 2 && where.lanes[0].doing == Doing::working;
                                       });
  REQUIRE_FALSE(stuck.lanes.empty());
  CHECK(stuck.lanes[0].role == Role::compute);
  CHECK(stuck.lanes[0].doing == Doing::working);
  CHECK(stuck.longest_compute_ns > 0);
  const auto still = stage.ask<Whereabouts>(WhereAreYou{});
  CHECK(still.lanes == stuck.lanes);
  CHECK(still.at_ns > stuck.at_ns);
  CHECK(still.cpu_time_ns >= stuck.cpu_time_ns);
  std::filesystem::remove(gate);
  CHECK(stage.receive<RunReport>().max_abs_difference == 0);
  CHECK(stage.ask<Whereabouts>(WhereAreYou{}).lanes.empty());
}

TEST_CASE("an answer never comes between a reply and the tensors that belong to it") {
  ServedStage stage;
  stage.make_source(2);
  const auto run = lone_run();
  stage.ask<RunReport>(run);
  for (int round = 0; round < 50; ++round) {
    stage.send(FetchResult{run.tag});
    stage.send(WhereAreYou{});
    bool answered = false;
    auto envelope = stage.control().receive_message();
    if (holds<Whereabouts>(envelope)) {
      answered = true;
      envelope = stage.control().receive_message();
    }
    REQUIRE(holds<ResultFollows>(envelope));
    const auto& spec = run.incoming.front();
    std::vector<std::byte> result(static_cast<std::size_t>(wire::byte_size(spec)));
    REQUIRE_NOTHROW(stage.control().receive_tensor(run.tag, 0, spec, result));
    if (!answered) CHECK_NOTHROW(stage.receive<Whereabouts>());
  }
}

TEST_CASE("the threads of a run say which stage they wait for, and how many bytes have come or gone") {
  MiddleStage stage;
  const auto& run = stage.run();
  const auto input = make_backend()->allocate(run.incoming.front());
  const auto before = stage.wait_until(Role::receive, Doing::waiting, 0);
  REQUIRE(before.lanes.size() == 3);
  CHECK(MiddleStage::lane(before, Role::receive).peer == 0);
  CHECK(MiddleStage::lane(before, Role::send).peer == 2);
  CHECK(MiddleStage::lane(before, Role::receive).bytes == 0);

  stage.previous().send_tensor(run.tag, 0, input.spec, input.bytes);
  const auto after = stage.wait_until_idle();
  CHECK(MiddleStage::lane(after, Role::receive).done == 1);
  CHECK(MiddleStage::lane(after, Role::compute).done == 1);
  CHECK(MiddleStage::lane(after, Role::compute).doing == Doing::waiting);
  CHECK(MiddleStage::lane(after, Role::receive).bytes == stage.previous().traffic()->sent);
  CHECK(after.longest_compute_ns > 0);

  const auto output = make_backend()->forward(run.blocks, input);
  stage.next().receive_tensor(run.tag, 0, output.spec, output.bytes);
  CHECK(MiddleStage::lane(after, Role::send).bytes == stage.next().traffic()->received);
}
