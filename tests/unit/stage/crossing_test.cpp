#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/stage/stage_loops.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <array>
#include <future>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "ring.hpp"
#include "served_stage.hpp"
#include "twin_backend.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using stage::Activation;
using support::contains;
using support::message_of;

namespace {

constexpr std::int64_t kRows = 2;
constexpr std::size_t kStages = 3;

/// Tensors as a cut has them, whose numbers go on from one tensor to the next.
stage::Activation numbered(const stage::Boundary& boundary, float first) {
  TwinBackend backend;
  auto activation = stage::allocate(boundary, backend);
  for (std::size_t i = 0; i < activation.tensors(); ++i) {
    for (auto& number : TwinBackend::floats(activation.tensor(i))) number = first++;
  }
  return activation;
}

stage::ReferenceSet references_of(std::size_t count) {
  TwinBackend backend;
  stage::ReferenceSet references;
  for (std::size_t i = 0; i < count; ++i) {
    references.inputs.push_back(numbered({rows_of(kRows, kWidth)}, 100 * static_cast<float>(i)));
    references.outputs.push_back(backend.forward({0, TwinBackend::kBlocks}, references.inputs.back()));
  }
  return references;
}

stage::Run run_of(std::size_t index, int micro_batches, const char* codec) {
  stage::Run run;
  run.tag = 5;
  run.stage_count = kStages;
  run.blocks = {static_cast<int>(index), static_cast<int>(index) + 1};
  run.incoming = index == 0 ? stage::Boundary{rows_of(kRows, kWidth)} : twins(kRows);
  run.batches = 20;
  run.warmup = 1;
  run.depth = 3;
  run.micro_batches = micro_batches;
  if (index > 0) run.incoming_codec = codec::parse(codec);
  if (index + 1 < kStages) run.outgoing_codec = codec::parse(codec);
  return run;
}

}  // namespace

TEST_CASE("the tensors of a micro-batch cross one after the other, and its times are from the first to the last") {
  auto [sender, receiver] = wire::make_link_pair();
  TwinBackend backend;
  const auto sent = numbered(twins(kRows), 1);
  auto sending = std::async(std::launch::async, [&sent, &link = sender] { return stage::send(link, 9, 7, sent); });
  std::array<std::vector<std::byte>, 2> tensors;
  std::array<wire::ReceiveTimes, 2> times;
  for (std::size_t i = 0; i < 2; ++i) {
    tensors[i].resize(sent.tensor(i).bytes.size());
    times[i] = receiver.receive_tensor(9, 2 * 7 + i, sent.tensor(i).spec, tensors[i]);
    CHECK(std::ranges::equal(tensors[i], sent.tensor(i).bytes));
  }
  const auto span = sending.get();
  CHECK(span.begin_ns <= times[0].begin_ns);
  CHECK(span.begin_ns < span.end_ns);
  for (const std::uint64_t sequence : {14U, 15U}) {
    sender.send_tensor(9, sequence, sent.tensor(sequence - 14).spec, sent.tensor(sequence - 14).bytes);
  }
  const auto received = stage::allocate(twins(kRows), backend);
  const auto whole = stage::receive(receiver, 9, 7, received);
  CHECK(whole.begin_ns < whole.end_ns);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(std::ranges::equal(received.tensor(i).bytes, sent.tensor(i).bytes));
  }
}

TEST_CASE("a second tensor that is another than announced is refused, and both are named") {
  struct Intruder {
    std::uint32_t tag;
    std::uint64_t sequence;
    wire::TensorSpec spec;
    std::string words;
  };
  const auto second = rows_of(kRows, kWidth / 2);
  const auto intruder = GENERATE_COPY(Intruder{5, 1, rows_of(kRows, kWidth), "[2x4]"}, Intruder{4, 1, second, "tag 4"},
                                      Intruder{5, 2, second, "sequence 2"}, Intruder{5, 0, second, "sequence 0"});
  auto [sender, receiver] = wire::make_link_pair();
  TwinBackend backend;
  const auto into = stage::allocate(twins(kRows), backend);
  sender.send_tensor(5, 0, into.spec, into.bytes);
  const auto other = backend.allocate(intruder.spec);
  sender.send_tensor(intruder.tag, intruder.sequence, intruder.spec, other.bytes);
  const auto complaint = message_of<wire::ProtocolError>([&, &link = receiver] { stage::receive(link, 5, 0, into); });
  CHECK(contains(complaint, "expected tensor float32[2x2] (tag 5, sequence 1)"));
  CHECK(contains(complaint, intruder.words));
}

TEST_CASE("an extent overlaps what lies in any of its tensors' memory, also after they were moved away") {
  auto activation = numbered(twins(kRows), 1);
  const stage::AddressRanges extent(activation);
  const auto first = activation;
  const auto second = activation.others.at(0);
  const auto moved = std::move(activation);
  CHECK(extent.overlaps(first));
  CHECK(extent.overlaps(second));
  CHECK_FALSE(extent.overlaps(numbered(twins(kRows), 1)));
  auto beside = numbered({rows_of(kRows, kWidth)}, 1);
  beside.others.push_back(second);
  CHECK(extent.overlaps(beside));
}

TEST_CASE("a ring carries both tensors of every cut, whole batches or micro-batches, and no bit of a result differs") {
  const int micro_batches = GENERATE(1, 3);
  const auto* codec = GENERATE("none", "zstd", "lz4");
  CAPTURE(micro_batches, codec);
  const auto references = references_of(4 * static_cast<std::size_t>(micro_batches));
  std::array<TwinBackend, kStages> backends;
  std::vector<std::pair<wire::Link, wire::Link>> links;
  for (std::size_t i = 0; i < kStages; ++i) links.push_back(TcpLoopback::connect());
  std::vector<std::future<stage::RunOutcome>> outcomes;
  for (std::size_t i = 0; i < kStages; ++i) {
    const stage::Neighbours neighbours{&links[(i + kStages - 1) % kStages].second, &links[i].first};
    outcomes.push_back(std::async(std::launch::async, [&, i, neighbours] {
      return stage::run_pipeline(run_of(i, micro_batches, codec), backends.at(i), neighbours,
                                 i == 0 ? &references : nullptr);
    }));
  }
  std::vector<stage::RunReport> reports;
  for (auto& outcome : outcomes) reports.push_back(outcome.get().report);
  CHECK(reports[0].max_abs_difference == 0);
  CHECK(reports[0].top1_agreement == 1);
  for (const auto& report : reports) {
    CHECK(report.offline.receive_end.size() == 21U * static_cast<std::size_t>(micro_batches));
    CHECK(std::ranges::is_sorted(report.offline.receive_end));
  }
}

TEST_CASE("a stage refuses micro-batches of no tensor, and of more than a link carries") {
  ServedStage stage("");
  const auto spec = rows_of(kRows, kWidth);
  CHECK(contains(stage.ask<stage::Fault>(stage::Prepare{{0, 1}, {}}).reason, "micro-batches of 0 tensors"));
  CHECK(contains(stage.ask<stage::Fault>(stage::Prepare{{0, 1}, {spec, spec, spec}}).reason,
                 "micro-batches of 3 tensors"));
  stage.ask<stage::Prepared>(stage::Prepare{{0, 1}, {spec, spec}});
}

namespace {

/// A batch whose bytes all differ from their neighbours.
Activation a_batch(const std::vector<std::int64_t>& shape, wire::MemoryFormat format = wire::MemoryFormat::contiguous) {
  auto batch = make_backend()->allocate({wire::DType::float32, format, shape});
  for (std::size_t i = 0; i < batch.bytes.size(); ++i) batch.bytes[i] = static_cast<std::byte>(i % 251);
  return batch;
}

std::vector<std::byte> joined(const std::vector<Activation>& parts) {
  std::vector<std::byte> bytes;
  for (const auto& part : parts) bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
  return bytes;
}

}  // namespace

TEST_CASE("the micro-batches of a batch, one after the other, are the batch") {
  const auto format = GENERATE(wire::MemoryFormat::contiguous, wire::MemoryFormat::channels_last);
  const auto batch = a_batch({12, 3, 5, 7}, format);
  const auto backend = make_backend();
  for (const int micro_batches : {1, 2, 3, 4, 6, 12}) {
    CAPTURE(micro_batches);
    for (const auto& parts : {stage::parts_of(batch, micro_batches), stage::cut(batch, micro_batches, *backend)}) {
      REQUIRE(parts.size() == static_cast<std::size_t>(micro_batches));
      CHECK(std::ranges::equal(joined(parts), batch.bytes));
      for (const auto& part : parts) {
        CHECK(part.spec.shape == std::vector<std::int64_t>{12 / micro_batches, 3, 5, 7});
        CHECK(part.spec.memory_format == format);
        CHECK(part.bytes.size() == static_cast<std::size_t>(wire::byte_size(part.spec)));
        CHECK(stage::whole_batch(part.spec, micro_batches) == batch.spec);
      }
    }
  }
}

TEST_CASE("parts are the batch's own memory, and cut micro-batches are copies that outlive it") {
  const auto backend = make_backend();
  std::vector<Activation> micro_batches;
  {
    const auto batch = a_batch({4, 10});
    CHECK(stage::parts_of(batch, 2)[1].bytes.data() == batch.bytes.data() + 2 * 10 * 4);
    CHECK(stage::cut(batch, 1, *backend)[0].bytes.data() == batch.bytes.data());
    micro_batches = stage::cut(batch, 2, *backend);
    batch.bytes[0] = std::byte{77};
  }
  CHECK(micro_batches[0].bytes[0] == std::byte{0});
  CHECK(micro_batches[1].bytes[0] == std::byte{80});
}

TEST_CASE("what cannot be cut, or put together, is refused") {
  CHECK_THROWS_AS(stage::parts_of(a_batch({4, 10}), 3), Error);
  CHECK_THROWS_AS(stage::parts_of(a_batch({}), 2), Error);
  CHECK_THROWS_AS(stage::whole_batch({wire::DType::float32, wire::MemoryFormat::contiguous, {}}, 2),
                  wire::ProtocolError);
  const std::int64_t large = 4'000'000'000;
  CHECK_THROWS_AS(stage::whole_batch({wire::DType::float32, wire::MemoryFormat::contiguous, {large}}, 2),
                  wire::ProtocolError);
}
