#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/encoding.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "ring.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using stage::RunReport;
using support::contains;
using support::message_of;

namespace {

/// The moments of a batch at one stage, in one phase, never decrease, and each loop takes the batches in their order.
void require_order(const StageTimeline& stage, std::size_t batches) {
  for (std::size_t i = 0; i < kStageMoments.size(); ++i) {
    CAPTURE(i);
    const auto& moments = stage.*kStageMoments[i];
    REQUIRE(moments.size() == batches);
    REQUIRE(moments.front() > 0);
    REQUIRE(std::is_sorted(moments.begin(), moments.end()));
    if (i > 0) REQUIRE(never_before(moments, stage.*kStageMoments[i - 1]));
  }
  const Moments next_begins(stage.compute_begin.begin() + 1, stage.compute_begin.end());
  REQUIRE(never_before(next_begins, {stage.encoded.begin(), stage.encoded.end() - 1}));
}

/// No batch has arrived before it was sent, and every result is the last thing that happens to its batch.
void require_causality(const std::vector<RunReport>& reports, StageTimeline RunReport::*phase,
                       ResultTimeline RunReport::*results) {
  for (std::size_t i = 1; i < reports.size(); ++i) {
    REQUIRE(never_before((reports[i].*phase).receive_begin, (reports[i - 1].*phase).send_begin));
  }
  const auto& back = reports.front().*results;
  REQUIRE(never_before(back.receive_begin, (reports.back().*phase).send_begin));
  REQUIRE(never_before(back.receive_end, back.receive_begin));
  REQUIRE(never_before(back.completed, back.receive_end));
}

/// A batch is handed over, all its micro-batches at one moment, once the last micro-batch of the batch `depth` before
/// it is back.
void require_depth(const Moments& handed_over, const Moments& completed, std::size_t depth, std::size_t micro_batches) {
  for (std::size_t i = 0; i < handed_over.size(); ++i) {
    const auto first = i - i % micro_batches;
    REQUIRE(handed_over[i] == handed_over[first]);
    if (i >= depth * micro_batches) REQUIRE(handed_over[i] >= completed[first - (depth - 1) * micro_batches - 1]);
  }
}

void require_sound(const std::vector<RunReport>& reports, const RingSetup& setup) {
  const auto micro_batches = static_cast<std::size_t>(setup.micro_batches);
  const auto entries = static_cast<std::size_t>(setup.warmup + setup.batches) * micro_batches;
  for (const auto& report : reports) {
    require_order(report.single_stream, entries);
    require_order(report.offline, entries);
  }
  require_causality(reports, &RunReport::single_stream, &RunReport::single_stream_results);
  require_causality(reports, &RunReport::offline, &RunReport::offline_results);
  const auto& source = reports.front();
  require_depth(source.single_stream.ready, source.single_stream_results.completed, 1, micro_batches);
  require_depth(source.offline.ready, source.offline_results.completed, static_cast<std::size_t>(setup.depth),
                micro_batches);
  REQUIRE(source.offline.ready.front() >= source.single_stream_results.completed.back());
  REQUIRE(source.single_stream.receive_begin == source.single_stream.ready);
  REQUIRE(source.max_abs_difference == 0);
  REQUIRE(source.top1_agreement == 1);
}

void require_ring(const RingSetup& setup, Ring::Connect connect) {
  require_sound(Ring(setup, connect).run(), setup);
}

}  // namespace

TEMPLATE_TEST_CASE("at every split all batches pass in order, and the moments never go back", "", TcpLoopback,
                   Socketpair) {
  for (int split = 0; split <= kBlocks; ++split) {
    CAPTURE(split);
    require_ring({.splits = {split}, .warmup = 2, .batches = 10, .depth = 4}, TestType::connect);
  }
}

TEMPLATE_TEST_CASE("several cuts are a longer ring, where stages without blocks pass on what they get", "", TcpLoopback,
                   Socketpair) {
  for (const auto& splits :
       std::vector<std::vector<int>>{{1, 2}, {0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 3}, {0, 1, 2}, {1, 1, 1, 1}}) {
    CAPTURE(splits);
    require_ring({.splits = splits, .warmup = 1, .batches = 20, .depth = 7}, TestType::connect);
  }
}

TEST_CASE("the depth bounds what is in flight from one batch to more than there are, and one batch is the least") {
  for (const int depth : {1, 2, 3, 5, 64}) {
    CAPTURE(depth);
    require_ring({.splits = {1}, .warmup = 0, .batches = 30, .depth = depth}, Socketpair::connect);
  }
  require_ring({.splits = {2}, .warmup = 0, .batches = 1, .depth = 1}, Socketpair::connect);
  // More micro-batches than the buffers of a stage and of its sockets hold cannot block a ring.
  require_ring({.splits = {1, 2}, .warmup = 0, .batches = 2, .depth = 2, .micro_batches = 100}, TcpLoopback::connect);
}

TEST_CASE(
    "micro-batches of a batch flow through rings of one to four stages, at any depth, and are put together again") {
  for (const auto& splits : std::vector<std::vector<int>>{{}, {1}, {3}, {1, 2}, {0, 1, 3}}) {
    for (const int micro_batches : {2, 7}) {
      for (const int depth : {1, 3}) {
        CAPTURE(splits, micro_batches, depth);
        require_ring({.splits = splits, .warmup = 1, .batches = 6, .depth = depth, .micro_batches = micro_batches},
                     Socketpair::connect);
      }
    }
  }
}

TEMPLATE_TEST_CASE("codecs without loss carry every bit through rings of two to four stages", "", TcpLoopback,
                   Socketpair) {
  for (const char* codec : {"zstd", "lz4"}) {
    for (const auto& splits : std::vector<std::vector<int>>{{0}, {1}, {3}, {1, 2}, {0, 1, 3}}) {
      for (const int micro_batches : {1, 3}) {
        CAPTURE(codec, splits, micro_batches);
        require_ring({.splits = splits, .batches = 10, .micro_batches = micro_batches, .codec = codec},
                     TestType::connect);
      }
    }
  }
}

TEST_CASE("what a codec encodes is counted at the stage that sends it, and only the codec's loss changes results") {
  const RingSetup setup{.splits = {1, 2}, .warmup = 1, .batches = 6, .micro_batches = 2, .codec = "sort8"};
  const auto runs = make_runs(setup);
  const auto reports = Ring(setup, Socketpair::connect).run();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto values = wire::byte_size(runs[i + 1].incoming.front()) / 4;
    CHECK(reports[i].encoded_bytes == 2 * 7 * 2 * (values + 4 * 8));
  }
  CHECK(reports[2].encoded_bytes == 0);  // results cross as they are
  CHECK(reports[0].max_abs_difference > 0);
  for (const auto& report : reports) require_order(report.offline, 14);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& [codec_begin, send_begin, send_end] =
        std::tie(reports[i].offline.codec_begin, reports[i].offline.send_begin, reports[i].offline.send_end);
    CHECK(codec_begin != send_begin);
    // One thread encodes and sends.
    CHECK(never_before({codec_begin.begin() + 1, codec_begin.end()}, {send_end.begin(), send_end.end() - 1}));
  }
  CHECK(reports[2].offline.codec_begin == reports[2].offline.send_begin);
}

TEST_CASE("an activation that is not finite ends the stage that encodes it with its own words") {
  RingSetup setup{.splits = {1, 2}, .codec = "uniform8"};
  setup.faults = {"", "nan@1-2@3", ""};
  Ring ring(setup, Socketpair::connect);
  auto reports = ring.start();
  const auto complaint = message_of<EnvironmentError>([&] { reports[1].get(); });
  CHECK(contains(complaint, "encode the output of block 2 with uniform8: value 0 of"));
  CHECK(contains(complaint, "is nan; leave the codec out"));
  CHECK_THROWS_AS(reports[0].get(), wire::ProtocolError);
  CHECK_THROWS_AS(reports[2].get(), wire::ProtocolError);
}

TEST_CASE("an encoded tensor of another codec than announced is refused, and so is one that no encoder made") {
  const auto codec = codec::parse("uniform8");
  const auto run = make_runs({.codec = "uniform8"}).at(1);
  auto [sender, receiver] = wire::make_link_pair();
  stage::Decoder decoder(codec, run.incoming);
  const auto backend = make_backend();
  const auto into = stage::allocate(run.incoming, *backend);
  const std::vector<std::byte> damaged(10);
  sender.send_encoded(run.tag, 0, run.incoming.front(), codec.number(), damaged);
  decoder.receive(receiver, run.tag, 0);
  CHECK(contains(message_of<wire::ProtocolError>([&] { decoder.decode(into); }), "with uniform8: a body of 10 bytes"));
  sender.send_encoded(run.tag, 1, run.incoming.front(), codec::parse("zstd").number(), damaged);
  CHECK(contains(message_of<wire::ProtocolError>([&, &link = receiver] { decoder.receive(link, run.tag, 1); }),
                 "10 bytes of codec 48"));
}

TEST_CASE("of a run of one phase nothing of the other one is reported, by any stage") {
  const auto offline = GENERATE(true, false);
  const std::pair single_streamed(&RunReport::single_stream, &RunReport::single_stream_results);
  const std::pair loaded(&RunReport::offline, &RunReport::offline_results);
  const auto [phase, results] = offline ? loaded : single_streamed;
  const auto [other_phase, other_results] = offline ? single_streamed : loaded;
  for (const auto& splits : std::vector<std::vector<int>>{{}, {1}, {1, 2}}) {
    RingSetup setup{.splits = splits, .warmup = 1, .batches = 6, .depth = 3, .micro_batches = 2};
    setup.phases = offline ? experiment::Phases::offline : experiment::Phases::single_stream;
    CAPTURE(splits, offline);
    const auto reports = Ring(setup, Socketpair::connect).run();
    for (const auto& report : reports) {
      require_order(report.*phase, 14);
      CHECK(report.*other_phase == StageTimeline{});
      CHECK(report.*other_results == ResultTimeline{});
      CHECK((report.*results).completed.size() == (&report == &reports.front() ? 14 : 0));  // only the source has any
    }
    const auto& source = reports.front();
    require_causality(reports, phase, results);
    require_depth((source.*phase).ready, (source.*results).completed, offline ? 3U : 1U, 2);
    CHECK(source.max_abs_difference == 0);
    CHECK(source.top1_agreement == 1);
  }
}

TEST_CASE("a batch or a micro-batch that was damaged on its way shows, whichever it is and wherever it happened") {
  struct Damage {
    int micro_batches;
    std::vector<std::string> faults;
  };
  // 10 batches: 1 + 4 of each phase.
  for (const auto& [micro_batches, faults] :
       {Damage{1, {"wrong@0-1@1"}}, Damage{1, {"wrong@0-1@10"}}, Damage{1, {"", "wrong@1-3@1"}},
        Damage{1, {"", "wrong@1-3@6"}}, Damage{1, {"", "nan@1-3@10"}}, Damage{4, {"", "wrong@1-3@1"}},
        Damage{4, {"", "wrong@1-3@2"}}, Damage{4, {"", "wrong@1-3@4"}}, Damage{4, {"", "wrong@1-3@39"}},
        Damage{4, {"", "wrong@1-3@40"}}}) {
    CAPTURE(micro_batches, faults);
    RingSetup setup;
    setup.micro_batches = micro_batches;
    setup.faults = faults;
    CHECK(Ring(setup, Socketpair::connect).run()[0].max_abs_difference > 0);
  }
}

TEST_CASE("a stage alone runs all blocks, and nothing is sent") {
  const RingSetup setup{.splits = {}, .warmup = 1, .batches = 6, .depth = 3};
  const auto reports = Ring(setup, Socketpair::connect).run();
  require_sound(reports, setup);
  for (const auto& [stage, results] : {std::pair(reports[0].single_stream, reports[0].single_stream_results),
                                       std::pair(reports[0].offline, reports[0].offline_results)}) {
    CHECK(stage.send_begin == stage.encoded);
    CHECK(stage.send_end == stage.encoded);
    CHECK(results.receive_begin == stage.encoded);
    CHECK(results.receive_end == stage.encoded);
  }
}

namespace {

/// Stage 0 or 1 of a ring of two, whose neighbour is the test itself.
class LoneStage {
 public:
  explicit LoneStage(std::size_t stage)
      : run_(make_runs({}).at(stage)), references_(make_references(1)), backend_(make_backend()) {
    result_ = std::async(std::launch::async, [this, stage] {
      return stage::run_pipeline(run_, *backend_, {&in_.second, &out_.first}, stage == 0 ? &references_ : nullptr);
    });
  }

  ~LoneStage() {
    hang_up();
    stop_reading();
  }

  const stage::Run& run() const { return run_; }
  void send(std::uint32_t tag, std::uint64_t sequence, const wire::TensorSpec& spec) {
    in_.first.send_tensor(tag, sequence, spec, std::vector<std::byte>(static_cast<std::size_t>(wire::byte_size(spec))));
  }
  void hang_up() { in_.first.shutdown(); }
  void stop_reading() { out_.second.shutdown(); }

  template <class Exception>
  std::string complaint() {
    return message_of<Exception>([this] { result_.get(); });
  }
  /// True once the stage has ended its links: the end of the stream can be read.
  bool let_go_of_next() {
    try {
      for (std::size_t sequence = 0;; ++sequence) {
        const auto spec = wire::TensorSpec{wire::DType::float32, wire::MemoryFormat::contiguous, {kBatch, 10}};
        std::vector<std::byte> into(static_cast<std::size_t>(wire::byte_size(spec)));
        out_.second.receive_tensor(run_.tag, sequence, spec, into);
      }
    } catch (const wire::Closed&) {
      return true;
    }
  }

 private:
  stage::Run run_;
  stage::ReferenceSet references_;
  std::unique_ptr<stage::Backend> backend_;
  std::pair<wire::Link, wire::Link> in_ = wire::make_link_pair();
  std::pair<wire::Link, wire::Link> out_ = wire::make_link_pair();
  std::future<stage::RunOutcome> result_;
};

}  // namespace

TEST_CASE("a neighbour that hangs up between two batches or in the middle ends the run as a lost peer") {
  LoneStage sink(1);
  sink.send(sink.run().tag, 0, sink.run().incoming.front());
  sink.hang_up();
  CHECK(contains(sink.complaint<wire::Closed>(), "the peer closed it"));
  CHECK(sink.let_go_of_next());
  LoneStage source(0);
  source.hang_up();  // no result will ever come
  CHECK(contains(source.complaint<wire::Closed>(), "the peer closed it"));
}

TEST_CASE("a next stage that does not take the results ends the run as a lost peer") {
  LoneStage sink(1);
  sink.stop_reading();
  sink.send(sink.run().tag, 0, sink.run().incoming.front());
  CHECK(contains(sink.complaint<wire::ConnectionLost>(), "sending a frame"));
}

TEST_CASE(
    "a batch of another trial, out of order, of another shape or for the second time is refused, and names both") {
  auto other_spec = make_runs({}).at(1).incoming.front();
  other_spec.shape = {10, 100};
  struct Intruder {
    std::uint32_t tag;
    std::uint64_t sequence;
    wire::TensorSpec spec;
    std::string words;
  };
  const auto right = make_runs({}).at(1);
  const auto intruder = GENERATE_COPY(Intruder{right.tag - 1, 0, right.incoming.front(), "tag 41"},
                                      Intruder{right.tag, 1, right.incoming.front(), "sequence 1"},
                                      Intruder{right.tag, 0, other_spec, "[10x100]"});
  LoneStage sink(1);
  sink.send(intruder.tag, intruder.sequence, intruder.spec);
  const auto complaint = sink.complaint<wire::ProtocolError>();
  CHECK(contains(complaint, "tag 42, sequence 0"));
  CHECK(contains(complaint, intruder.words));
  LoneStage repeated(1);
  for (int i = 0; i < 2; ++i) repeated.send(repeated.run().tag, 0, repeated.run().incoming.front());
  CHECK(contains(repeated.complaint<wire::ProtocolError>(), "sequence 1"));
}

TEMPLATE_TEST_CASE("an error in a block ends its stage with its own words and all others as lost peers", "",
                   TcpLoopback, Socketpair) {
  // The first, a middle and the last of 10 batches, in each of three stages.
  const std::string call = GENERATE("1", "6", "10");
  const std::size_t culprit = GENERATE(0U, 1U, 2U);
  CAPTURE(call, culprit);
  const std::vector<std::string> ranges{"0-1", "1-2", "2-3"};
  RingSetup setup;
  setup.splits = {1, 2};
  setup.faults.resize(3);
  setup.faults[culprit] = "throw@" + ranges[culprit] + "@" + call;
  Ring ring(setup, TestType::connect);
  auto reports = ring.start();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    CAPTURE(i);
    if (i == culprit) {
      CHECK(contains(message_of<EnvironmentError>([&] { reports[i].get(); }), "broke on purpose"));
    } else if (call != "10" || i == 0) {
      CHECK_THROWS_AS(reports[i].get(), wire::ProtocolError);
    } else {
      // With its last batch sent, a stage before the culprit may have finished.
      CHECK_NOTHROW([&] {
        try {
          reports[i].get();
        } catch (const wire::ProtocolError&) {
        }
      }());
    }
  }
}
