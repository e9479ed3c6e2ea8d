#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>

#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "ring.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;
using support::message_of;

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

TEST_CASE("a previous stage that hangs up between two batches ends the run as a lost peer") {
  LoneStage sink(1);
  sink.send(sink.run().tag, 0, sink.run().incoming.front());
  sink.hang_up();
  CHECK(contains(sink.complaint<wire::Closed>(), "the peer closed it"));
  CHECK(sink.let_go_of_next());
}

TEST_CASE("a next stage that hangs up in the middle ends the source as a lost peer") {
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

TEST_CASE("a batch of another trial, out of order or of another shape is refused, and names both") {
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
}

TEST_CASE("a batch that comes twice is refused") {
  LoneStage sink(1);
  for (int i = 0; i < 2; ++i) sink.send(sink.run().tag, 0, sink.run().incoming.front());
  CHECK(contains(sink.complaint<wire::ProtocolError>(), "sequence 1"));
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
