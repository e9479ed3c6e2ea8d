#pragma once
#include <paretopipe/stage/stage_loops.hpp>
#include <paretopipe/stage/training_messages.hpp>
#include <paretopipe/wire/link.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A ring of stages within this process: what the driver does with processes, for tests.
namespace paretopipe::testing {

/// Three blocks that take no time, whose activations differ in size.
inline constexpr const char* kModel = "synthetic:0ms/4kB,0ms/64kB,0ms";
inline constexpr int kBlocks = 3;
inline constexpr int kBatch = 2;

stage::ModelRequest a_model();

/// The synthetic backend with the model loaded, misbehaving as tests/fakes/faulty_backend.hpp says.
std::unique_ptr<stage::Backend> make_backend(const std::string& fault = "");

/// `count` inputs and what the unsplit model makes of them.
stage::ReferenceSet make_references(int count);

struct RingSetup {
  std::vector<int> splits{1};  ///< one per cut; none: a stage alone
  int warmup = 1;
  int batches = 4;
  int depth = 3;
  int micro_batches = 1;
  std::vector<std::string> faults{};  ///< of the stages' backends
  experiment::Phases phases = experiment::Phases::both;
  std::string codec = codec::kNone;      ///< of all cuts
  std::vector<std::int64_t> arrivals{};  ///< of a Server phase, as many as there are batches; none: `phases`
};

std::vector<stage::Run> make_runs(const RingSetup& setup);

/// The kinds of link that a ring may have.
struct TcpLoopback {
  static std::pair<wire::Link, wire::Link> connect();
};
struct Socketpair {
  static std::pair<wire::Link, wire::Link> connect();
};

/// Moments of batches, of which each `later` one is not before the same batch's `earlier` one.
using Moments = std::vector<std::int64_t>;
inline bool never_before(const Moments& later, const Moments& earlier) {
  return later.size() == earlier.size() &&
         std::equal(later.begin(), later.end(), earlier.begin(), std::greater_equal<>());
}

class Ring {
 public:
  using Connect = std::pair<wire::Link, wire::Link> (*)();
  Ring(const RingSetup& setup, Connect connect);

  /// One thread a stage. A stage's error comes out of its future.
  std::vector<std::future<stage::RunOutcome>> start();

  /// As `start`, having waited for all of them. Throws the first stage's error.
  std::vector<stage::RunReport> run();

 private:
  std::vector<stage::Run> runs_;
  stage::ReferenceSet references_;
  std::vector<std::unique_ptr<stage::Backend>> backends_;
  std::deque<std::pair<wire::Link, wire::Link>> links_;  ///< from each stage (first) to the next one (second)
};

/// A training whose learning rate changes with every update.
inline experiment::Training a_training(experiment::Schedule schedule) {
  experiment::Training training{.schedule = schedule};
  training.optimizer.schedule = experiment::RateSchedule::linear;
  return training;
}

/// The digests of all stages' blocks, in the order of the stages.
inline std::vector<std::string> digests_of(const std::vector<stage::TrainReport>& reports) {
  std::vector<std::string> digests;
  for (const auto& report : reports) digests.insert(digests.end(), report.digests.begin(), report.digests.end());
  return digests;
}

}  // namespace paretopipe::testing
