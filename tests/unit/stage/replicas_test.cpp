// Replicas of the whole model, each a stage with a control link of its own.
#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/replicas.hpp>
#include <paretopipe/stage/training_reference.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "served_stage.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace paretopipe::stage;
using experiment::Schedule;
using support::contains;

namespace {

TrainingTask shared_task(Schedule schedule, int replicas) {
  return {a_model(), a_training(schedule), 12, 3, 4, replicas};
}

/// What the driver does with the stages of a trial.
class Replicas {
 public:
  Replicas(const TrainingTask& task, std::vector<std::string> faults = {}) : faults_(std::move(faults)) {
    faults_.resize(static_cast<std::size_t>(task.replicas));
    for (const auto& fault : faults_) stages_.emplace_back(fault);
    connect();
    for (int i = 0; i < task.replicas; ++i) {
      stages_[static_cast<std::size_t>(i)].ask<TrainingPrepared>(PrepareTraining{task, {0, kBlocks}, 0, 1, i});
    }
  }

  ServedStage& at(std::size_t replica) { return stages_[replica]; }

  std::vector<TrainReport> train(int steps) {
    for (auto& stage : stages_) stage.send(Train{1, steps, true, {}, {}});
    std::vector<TrainReport> reports;
    for (auto& stage : stages_) reports.push_back(stage.receive<TrainReport>());
    return reports;
  }

 private:
  void connect() {
    const auto count = stages_.size();
    StoreEntries all;
    const auto keep = [&](const StoreWrites& writes) {
      all.insert(writes.entries.begin(), writes.entries.end());
      return writes.connected;
    };
    std::vector<ServedStage*> others;
    for (std::size_t i = 0; i < count; ++i) {
      const ReplicaPlace place{static_cast<int>(i), static_cast<int>(count), "127.0.0.1", 60};
      CHECK_FALSE(keep(stages_[i].ask<StoreWrites>(OpenReplicas{place})));
      others.push_back(&stages_[i]);
    }
    while (!others.empty()) {
      std::erase_if(others, [&](ServedStage* stage) { return keep(stage->ask<StoreWrites>(TakeStoreWrites{all})); });
    }
  }

  std::vector<std::string> faults_;
  std::deque<ServedStage> stages_;
};

}  // namespace

TEST_CASE("replicas make of every block what one process makes that computes the share of each") {
  const auto schedule = GENERATE(Schedule::gpipe, Schedule::one_f_one_b, Schedule::pipedream);
  const auto count = GENERATE(2, 3, 4);
  CAPTURE(to_string(schedule), count);
  const auto task = shared_task(schedule, count);
  Replicas replicas(task);
  const auto reports = replicas.train(4);
  const auto reference = compute_training_reference({task, {{0, kBlocks}}, 4}, *make_backend());
  CHECK(digests_of(reports) == reference.digests);
  for (const auto& report : reports) {
    CHECK(report.digests == reports.front().digests);
    const auto& moments = report.moments;
    CHECK(moments.forward.compute_begin.size() == 4 * 12 / static_cast<std::size_t>(count));
    CHECK(moments.reduce_begin.size() == moments.update_begin.size());
    CHECK(never_before(moments.reduce_end, moments.reduce_begin));
    CHECK(never_before(moments.update_begin, moments.reduce_end));
  }
  // No sum is there before all have their gradients.
  for (std::size_t i = 0; i < reports.front().moments.reduce_end.size(); ++i) {
    for (const auto& one : reports) {
      for (const auto& other : reports) CHECK(one.moments.reduce_end[i] >= other.moments.reduce_begin[i]);
    }
  }
}

TEST_CASE("a replica that is lost is a lost neighbour to the others") {
  const auto task = shared_task(Schedule::gpipe, 2);
  Replicas replicas(task, {"", "nan@0-3@10"});  // it gives up, and its connections end with it
  for (std::size_t i = 0; i < 2; ++i) replicas.at(i).send(Train{1, 4, true, {}, {}});
  CHECK(contains(replicas.at(1).receive<Fault>().reason, "diverges"));
  CHECK(replicas.at(0).receive<Fault>().kind == FaultKind::peer_lost);
}

TEST_CASE("what cannot be of replicas is refused") {
  ServedStage stage;
  auto task = shared_task(Schedule::gpipe, 5);  // of 12 micro-batches
  CHECK(contains(stage.ask<Fault>(PrepareTraining{task, {0, kBlocks}, 0, 1, 0}).reason, "replica 0 of 5"));
  task.replicas = 2;
  CHECK_FALSE(stage.ask<Fault>(PrepareTraining{task, {0, kBlocks}, 0, 1, 2}).reason.empty());
  CHECK_FALSE(stage.ask<Fault>(PrepareTraining{task, {0, 1}, 0, 2, 0}).reason.empty());
  CHECK(contains(stage.ask<Fault>(TakeStoreWrites{}).reason, "before open_replicas"));
  stage.ask<TrainingPrepared>(PrepareTraining{task, {0, kBlocks}, 0, 1, 0});
  CHECK(contains(stage.ask<Fault>(Train{1, 1, true, {}, {}}).reason, "not connected"));
  task.micro_batches = 3;
  CHECK_FALSE(stage.ask<Fault>(ComputeTrainingReference{task, {{0, kBlocks}}, 1}).reason.empty());
}

TEST_CASE("a store gives what others wrote, says what it lacks, and releases who waits when it is closed") {
  MeetingStore store;
  store.set("mine", {1});
  CHECK(store.has("mine"));
  auto waiting = std::async(std::launch::async, [&] { return store.get("theirs", std::chrono::minutes(5)); });
  CHECK(store.take_written(std::chrono::minutes(5)).entries == StoreEntries{{"mine", {1}}});
  store.add({{"theirs", {2}}});
  CHECK(waiting.get() == std::vector<std::uint8_t>{2});
  auto never = std::async(std::launch::async, [&] { return store.get("nobody's", std::chrono::minutes(5)); });
  CHECK(store.take_written(std::chrono::milliseconds(1)).entries.empty());
  store.set("last", {3});
  store.finish();
  const auto last = store.take_written(std::chrono::minutes(5));
  CHECK(last.entries.contains("last"));
  CHECK(last.connected);
  store.close();
  CHECK(contains(support::message_of<EnvironmentError>([&] { never.get(); }), "cannot connect the replicas"));
  CHECK_THROWS_AS(MeetingStore().get("late", std::chrono::milliseconds(1)), EnvironmentError);
}

TEST_CASE("a meeting that ends early lets its library go") {
  bool released = false;
  {
    ReplicaMeeting meeting(
        [&](const ReplicaPlace&, const std::shared_ptr<MeetingStore>& store) -> std::unique_ptr<AllReduce> {
          try {
            store->get("never written", std::chrono::minutes(5));
          } catch (const EnvironmentError&) {
            released = true;
          }
          return nullptr;
        },
        {});
    CHECK_FALSE(meeting.go_on({}).connected);
  }
  CHECK(released);
}
