#include <algorithm>
#include <deque>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "served_stage.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace paretopipe::stage;
using support::contains;

namespace {

/// Stages that serve, joined over TCP and loaded as a driver does it.
class ServedRing {
 public:
  explicit ServedRing(const std::vector<std::string>& faults) {
    for (const auto& fault : faults) stages_.emplace_back(fault);
    std::vector<std::uint16_t> ports;
    for (auto& stage : stages_) ports.push_back(stage.ask<Listening>(Listen{"127.0.0.1"}).port);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      stages_[i].send(Join{"127.0.0.1", ports[(i + 1) % ports.size()], {}, 30});
    }
    for (auto& stage : stages_) stage.receive<Joined>();
    for (auto& stage : stages_) stage.ask<Loaded>(Load{a_model(), {0, kBlocks}});
    stages_.front().make_source(2);
  }

  ServedStage& operator[](std::size_t index) { return stages_[index]; }

  void start(const RingSetup& setup) {
    const auto runs = make_runs(setup);
    for (std::size_t i = 0; i < runs.size(); ++i) stages_[i].send(runs[i]);
  }

 private:
  std::deque<ServedStage> stages_;
};

}  // namespace

TEST_CASE("joined stages run trial after trial, at other splits and alone") {
  ServedRing ring({"", ""});
  for (const int split : {1, 0, 3, 2}) {
    CAPTURE(split);
    ring.start({.splits = {split}, .warmup = 1, .batches = 4, .depth = 3});
    const auto source = ring[0].receive<RunReport>();
    CHECK(source.max_abs_difference == 0);
    CHECK(source.top1_agreement == 1);
    CHECK(source.offline_results.completed.size() == 5);
    CHECK(ring[1].receive<RunReport>().single_stream.compute_end.size() == 5);
  }
  CHECK(ring[0]
            .ask<RunReport>(make_runs({.splits = {}, .warmup = 0, .batches = 2, .depth = 1}).front())
            .max_abs_difference == 0);
}

TEST_CASE("what came back of the last batch can be fetched from the source, over links and alone") {
  ServedRing ring({"", ""});
  const auto references = make_references(2);
  for (const auto& splits : {std::vector<int>{2}, std::vector<int>{}}) {
    const RingSetup setup{.splits = splits, .warmup = 0, .batches = 3, .depth = 2};
    if (splits.empty()) {
      ring[0].send(make_runs(setup).front());
    } else {
      ring.start(setup);
      ring[1].receive<RunReport>();
    }
    ring[0].receive<RunReport>();
    for (int again = 0; again < 2; ++again) {
      ring[0].ask<ResultFollows>(FetchResult{77});
      const auto& expected = references.outputs[1];  // the sixth of batches that take turns
      std::vector<std::byte> result(expected.bytes.size());
      ring[0].control().receive_tensor(77, 0, expected.spec, result);
      CHECK(std::ranges::equal(result, expected.bytes));
    }
  }
  CHECK(contains(ring[1].ask<Fault>(FetchResult{77}).reason, "has not"));
  ring[0].ask<Loaded>(Load{a_model(), {0, kBlocks}});
  CHECK(contains(ring[0].ask<Fault>(FetchResult{77}).reason, "has not"));
}

TEST_CASE("the stage whose block breaks says so, and its neighbours say that they lost a peer") {
  const std::size_t culprit = GENERATE(0U, 1U, 2U);
  CAPTURE(culprit);
  std::vector<std::string> faults(3);
  faults[culprit] = std::vector<std::string>{"throw@0-1@5", "throw@1-2@5", "throw@2-3@5"}[culprit];
  ServedRing ring(faults);
  ring.start({.splits = {1, 2}, .warmup = 1, .batches = 4, .depth = 3});
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    const auto fault = ring[i].receive<Fault>();
    CHECK((fault.kind == FaultKind::peer_lost) == (i != culprit));
    CHECK(contains(fault.reason, "broke on purpose") == (i == culprit));
  }
}

TEST_CASE("after a run that failed the links are gone, and the stages still answer") {
  ServedRing ring({"", "throw@1-3@2"});
  const RingSetup setup;
  ring.start(setup);
  for (std::size_t i = 0; i < 2; ++i) ring[i].receive<Fault>();
  ring.start(setup);
  for (std::size_t i = 0; i < 2; ++i) CHECK(ring[i].receive<Fault>().kind == FaultKind::peer_lost);
  CHECK(ring[0].ask<ModelList>(ListModels{}).models.size() == 1);
  CHECK_NOTHROW(ring[0].make_source(1));
}

TEST_CASE("a stage that ends in the middle of a run is a lost peer to its neighbour") {
  ServedRing ring({"", ""});
  ring[0].send(make_runs({}).front());  // its batch waits for a stage that was not told to run
  ring[1].control().shutdown();
  CHECK_NOTHROW(ring[1].wait());
  CHECK(ring[0].receive<Fault>().kind == FaultKind::peer_lost);
}
