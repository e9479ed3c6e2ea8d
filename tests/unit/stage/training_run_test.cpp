// Stages that train, each with threads and links of its own, in one process.
#include <paretopipe/codec/codec.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/schedule.hpp>
#include <paretopipe/stage/progress.hpp>
#include <paretopipe/stage/training_reference.hpp>
#include <paretopipe/stage/training_run.hpp>

#include <algorithm>
#include <deque>
#include <future>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "ring.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using experiment::Schedule;

namespace {

constexpr int kMicroBatches = 4;
constexpr int kEnd = 4;  ///< blocks of the model: one for each of four stages

stage::ModelRequest a_learner() {
  auto model = a_model();
  model.model = "synthetic:0ms/4kB,0ms/64kB,0ms/8kB,0ms";
  return model;
}

stage::TrainingTask a_task(Schedule schedule) {
  return {a_learner(), a_training(schedule), kMicroBatches, 3, 8};
}

struct TrainedPipeline {
  /// Stages with these blocks, joined by links both ways.
  TrainedPipeline(Schedule schedule, std::vector<experiment::BlockRange> blocks, std::vector<std::string> faults = {},
                  const char* codec_of_cuts = "none")
      : codec(codec::parse(codec_of_cuts)) {
    const auto count = static_cast<int>(blocks.size());
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      backends.push_back(make_backend(at < faults.size() ? faults[at] : ""));
      stages.push_back(stage::prepare_training({a_task(schedule), blocks[at], i, count}, {}, *backends.back()));
      if (i + 1 < count) {
        forward.push_back(TcpLoopback::connect());
        backward.push_back(TcpLoopback::connect());
      }
    }
  }

  wire::TensorSpec spec_at(int block) {
    const auto model = backends.front()->describe(a_learner());
    return {wire::DType::float32, wire::MemoryFormat::contiguous, model.shape_at(block)};
  }

  std::vector<std::future<stage::TrainReport>> start(int steps, std::uint32_t tag) {
    std::vector<std::future<stage::TrainReport>> reports;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const auto blocks = stages[i].asked.blocks;
      stage::Train request{tag, steps, true, {spec_at(blocks.begin)}, {}, codec, codec};
      request.gradients = {blocks.end == 0 ? stage::no_gradient_spec() : spec_at(blocks.end)};
      stage::TrainingLinks links;
      if (i > 0) links = {{&forward[i - 1].second, nullptr}, {nullptr, &backward[i - 1].second}};
      if (i + 1 < stages.size()) {
        links.activations.next = &forward[i].first;
        links.gradients.previous = &backward[i].first;
      }
      reports.push_back(std::async(std::launch::async, [this, i, request, links] {
        return stage::run_training(request, stages[i], *backends[i], links);
      }));
    }
    return reports;
  }

  std::vector<stage::TrainReport> run(int steps, std::uint32_t tag = 7) {
    std::vector<stage::TrainReport> reports;
    for (auto& report : start(steps, tag)) reports.push_back(report.get());
    return reports;
  }

  codec::Codec codec;
  std::vector<std::unique_ptr<stage::Backend>> backends;
  std::deque<stage::TrainingStage> stages;
  std::deque<std::pair<wire::Link, wire::Link>> forward, backward;  ///< between each stage (first) and the next one
};

stage::TrainingReference reference_of(Schedule schedule, std::vector<experiment::BlockRange> parts, int steps) {
  return stage::compute_training_reference({a_task(schedule), std::move(parts), steps}, *make_backend());
}

const std::vector<std::vector<experiment::BlockRange>> kCuts{{{0, kEnd}},
                                                             {{0, 0}, {0, kEnd}},
                                                             {{0, 1}, {1, kEnd}},
                                                             {{0, 2}, {2, kEnd}},
                                                             {{0, 1}, {1, 2}, {2, kEnd}},
                                                             {{0, 1}, {1, 1}, {1, kEnd}},
                                                             {{0, 2}, {2, kEnd}, {kEnd, kEnd}},
                                                             {{0, 0}, {0, 0}, {0, kEnd}},
                                                             {{0, 1}, {1, 2}, {2, 3}, {3, kEnd}},
                                                             {{0, 1}, {1, 1}, {1, 3}, {3, kEnd}}};

}  // namespace

TEST_CASE("stages that train make of every block what one process makes of it, wherever they are cut") {
  const auto schedule = GENERATE(Schedule::gpipe, Schedule::one_f_one_b, Schedule::pipedream);
  const auto* lossless = GENERATE("none", "zstd");  // the codec of activations and gradients
  for (const auto& cut : kCuts) {
    CAPTURE(to_string(schedule), lossless, cut.size(), cut.front().end);
    const bool flushes = schedule != Schedule::pipedream;
    const auto reference = reference_of(schedule, flushes ? std::vector<experiment::BlockRange>{{0, kEnd}} : cut, 5);
    TrainedPipeline pipeline(schedule, cut, {}, lossless);
    const auto reports = pipeline.run(5);
    CHECK(digests_of(reports) == reference.digests);
    CHECK(reports.back().losses == reference.losses);
  }
}

TEST_CASE("a training goes on where it was, as if it had never paused") {
  TrainedPipeline pipeline(Schedule::one_f_one_b, {{0, 1}, {1, kEnd}});
  pipeline.run(2, 1);
  const auto reference = reference_of(Schedule::gpipe, {{0, kEnd}}, 5);
  CHECK(digests_of(pipeline.run(3, 2)) == reference.digests);
}

TEST_CASE("the loss of a batch is the mean of its micro-batches' losses, or their sum") {
  auto task = a_task(Schedule::gpipe);
  const auto losses = [&] { return stage::compute_training_reference({task, {{0, kEnd}}, 1}, *make_backend()).losses; };
  const auto mean = losses().front();
  task.training.loss_sum = true;
  CHECK(losses().front() == Approx(kMicroBatches * mean));
}

TEST_CASE("without flushes the weights are others, and depend on the cut") {
  const auto flushed = reference_of(Schedule::gpipe, {{0, kEnd}}, 5).digests;
  const auto one = reference_of(Schedule::pipedream, {{0, 1}, {1, kEnd}}, 5).digests;
  const auto other = reference_of(Schedule::pipedream, {{0, 2}, {2, kEnd}}, 5).digests;
  CHECK(flushed != one);
  CHECK(one != other);
}

TEST_CASE("a stage does what its schedule says, in that order, and nothing before what it needs has come") {
  TrainedPipeline pipeline(Schedule::one_f_one_b, {{0, 1}, {1, 2}, {2, 3}, {3, kEnd}});
  const auto reports = pipeline.run(3);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto& moments = reports[i].moments;
    const auto actions = experiment::actions_of(Schedule::one_f_one_b, {4, kMicroBatches, 3}, static_cast<int>(i));
    std::int64_t last = 0;
    std::size_t updates = 0;
    for (const auto& action : actions) {
      const auto at = static_cast<std::size_t>(action.micro_batch);
      const bool forward = action.kind == experiment::Action::Kind::forward;
      const auto& pass = forward ? moments.forward : moments.backward;
      const bool update = action.kind == experiment::Action::Kind::update;
      const auto begin = update ? moments.update_begin[updates] : pass.compute_begin[at];
      REQUIRE(begin >= last);
      last = update ? moments.update_end[updates++] : pass.compute_end[at];
      if (!update && !pass.receive_end.empty()) REQUIRE(begin >= pass.receive_end[at]);
    }
    REQUIRE(updates == moments.update_end.size());
    if (i > 0) REQUIRE(never_before(moments.forward.receive_begin, reports[i - 1].moments.forward.send_begin));
    if (i > 0) REQUIRE(never_before(reports[i - 1].moments.backward.receive_begin, moments.backward.send_begin));
  }
}

TEST_CASE("what crosses a cut is counted, forward and back, and a gradient that nobody needs is one number") {
  TrainedPipeline pipeline(Schedule::gpipe, {{0, 1}, {1, kEnd}});
  const auto reports = pipeline.run(2);
  CHECK(reports[0].sent_forward.bytes == 2 * kMicroBatches * 4000);
  CHECK(reports[1].sent_backward.bytes == 2 * kMicroBatches * 4000);
  CHECK(reports[1].sent_forward.bytes == 0);
  TrainedPipeline remote(Schedule::gpipe, {{0, 0}, {0, kEnd}}, {}, GENERATE("none", "sort8"));
  CHECK(remote.run(2)[1].sent_backward.bytes == 2 * kMicroBatches * 4);
}

TEST_CASE("a codec with loss makes fewer bytes there and back, and other weights") {
  const std::vector<experiment::BlockRange> cut{{0, 1}, {1, 2}, {2, kEnd}};
  TrainedPipeline pipeline(Schedule::one_f_one_b, cut, {}, "sort8");
  const auto reports = pipeline.run(3);
  CHECK(reports[0].sent_forward.unencoded_bytes == 3 * kMicroBatches * 4000);
  CHECK(reports[1].sent_backward.unencoded_bytes == reports[0].sent_forward.unencoded_bytes);
  CHECK(reports[2].sent_backward.unencoded_bytes == reports[1].sent_forward.unencoded_bytes);
  for (const auto& sent : {reports[0].sent_forward, reports[1].sent_forward, reports[1].sent_backward}) {
    CHECK(sent.bytes < sent.unencoded_bytes / 2);
    CHECK(sent.bytes > 0);
  }
  CHECK(digests_of(reports) != reference_of(Schedule::gpipe, {{0, kEnd}}, 3).digests);
  for (const auto* pass : {&reports[1].moments.forward, &reports[1].moments.backward}) {
    CHECK(never_before(pass->ready, pass->receive_end));
    CHECK(never_before(pass->compute_begin, pass->ready));
    CHECK(never_before(pass->codec_begin, pass->compute_end));
    CHECK(never_before(pass->encoded, pass->codec_begin));
    CHECK(never_before(pass->send_begin, pass->encoded));
  }
  CHECK(reports[0].moments.forward.ready.empty());
  CHECK(reports[0].moments.backward.encoded.empty());
  CHECK(reports[0].moments.backward.codec_begin.empty());
}

TEST_CASE("a gradient that is no number is refused by a codec with loss, with its block named, and ends all stages") {
  TrainedPipeline pipeline(Schedule::gpipe, {{0, 1}, {1, kEnd}}, {"", "nogradients@1-4@6"}, "sort8");
  auto reports = pipeline.start(4, 7);
  const auto said = support::message_of<EnvironmentError>([&] { reports[1].get(); });
  CHECK(support::contains(said, "encode the gradient of the output of block 1 with sort8: "));
  CHECK_THROWS_AS(reports[0].get(), Error);
}

TEST_CASE("1f1b holds fewer activations than gpipe") {
  const auto held = [](Schedule schedule) {
    TrainedPipeline pipeline(schedule, {{0, 1}, {1, kEnd}});
    return pipeline.run(4)[1].memory.tensors_bytes;
  };
  CHECK(held(Schedule::one_f_one_b) < held(Schedule::gpipe));
}

TEST_CASE("a stage without blocks holds what is in flight, however many steps there are") {
  const auto held = [](int steps) {
    TrainedPipeline pipeline(Schedule::one_f_one_b, {{0, 0}, {0, 0}, {0, kEnd}});
    return pipeline.run(steps)[1].memory.tensors_bytes;
  };
  const auto of_few = held(4);
  CHECK(of_few > 0);
  CHECK(held(40) < 3 * of_few);
}

TEST_CASE("an error of one stage, a lost stage and a loss that is no number end all stages") {
  const auto [fault, said] =
      GENERATE(table<const char*, const char*>({{"throw@1-4@6", "the block broke on purpose"},
                                                {"nan@1-4@6", "the loss of step 2 is nan: the training diverges"}}));
  TrainedPipeline pipeline(Schedule::one_f_one_b, {{0, 1}, {1, kEnd}}, {"", fault});
  auto reports = pipeline.start(4, 7);
  CHECK(support::contains(support::message_of<Error>([&] { reports[1].get(); }), said));
  CHECK_THROWS_AS(reports[0].get(), Error);
}

TEST_CASE("a stage that trains shows the threads that serve a link, and with whom; none that would wait for ever") {
  auto [near, far] = Socketpair::connect();
  stage::Run run;
  run.stage_count = 3;
  // The first stage: activations go to stage 1, and gradients come from it.
  const stage::RunProgress progress(run, 0, {{nullptr, &near}, {&far, nullptr}});
  stage::Whereabouts whereabouts;
  progress.describe_in(whereabouts);
  REQUIRE(whereabouts.lanes.size() == 3);
  CHECK(whereabouts.lanes[0].role == stage::Role::compute);
  CHECK(whereabouts.lanes[1].role == stage::Role::send);
  CHECK(whereabouts.lanes[1].peer == 1);
  CHECK(whereabouts.lanes[2].role == stage::Role::receive);
  CHECK(whereabouts.lanes[2].peer == 1);
}
