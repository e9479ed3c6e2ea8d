#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/host/cpu_set.hpp>
#include <paretopipe/stage/file_cache.hpp>
#include <paretopipe/stage/link_probe.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <array>

#include <sys/socket.h>
#include <unistd.h>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/scoped_variable.hpp>
#include <support/temporary_folder.hpp>

#include "served_stage.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace paretopipe::stage;
using nlohmann::json;
using support::contains;

namespace {

Load load_all() {
  return {a_model(), {0, kBlocks}};
}

ComputeReferences references_of(const ModelRequest& model) {
  return {model, kBlocks, 2, 1};
}

}  // namespace

TEST_CASE("a stage says what it is and what it applied") {
  ServedStage stage;
  const auto configured = stage.ask<Configured>(Configure{});
  CHECK(configured.protocol_version == kControlProtocolVersion);
  CHECK(configured.git_state == git_state());
  CHECK(configured.host.boot_id == host::read_host_context().boot_id);
  CHECK(configured.cpus == host::to_string(host::current_affinity()));
  CHECK(configured.compute["library"] == "synthetic");
  CHECK(stage.ask<ModelList>(ListModels{}).models.size() == 1);
  CHECK(stage.ask<Described>(Describe{a_model()}).description.block_count() == kBlocks);
}

TEST_CASE("CPUs, stages, models and tensors that cannot be are faults with the request's exit code, and no end") {
  ServedStage stage;
  constexpr auto kUsage = static_cast<int>(ExitCode::usage);
  Configure request;
  request.cpus = "1-";
  CHECK(stage.ask<Fault>(request).exit_code == kUsage);
  request.cpus = "100000";
  CHECK_FALSE(stage.ask<Fault>(request).reason.empty());
  request = {};
  request.stages = 0;
  CHECK(stage.ask<Fault>(request).reason == "the driver configured one of 0 stages");
  CHECK_NOTHROW(stage.ask<Configured>(Configure{}));
  auto load = load_all();
  load.model.model = "synthetic:soon";
  CHECK(stage.ask<Fault>(load).exit_code == kUsage);
  CHECK(stage.ask<Fault>(Describe{load.model}).exit_code == kUsage);
  const wire::TensorSpec negative{wire::DType::float32, wire::MemoryFormat::contiguous, {-1, 10}};
  CHECK_FALSE(stage.ask<Fault>(TakeReferences{a_model(), 1, 1, {{}, negative}}).reason.empty());
  CHECK(stage.ask<ModelList>(ListModels{}).models.size() == 1);
  ServedStage broken("nan@0-3@2");  // nothing could be checked against such an output
  CHECK(contains(broken.ask<Fault>(references_of(a_model())).reason, "not finite"));
}

TEST_CASE("a stage says what is wrong with its machine") {
  ServedStage stage;
  const auto health = stage.ask<Health>(CheckHealth{});
  const auto found = std::find_if(health.findings.begin(), health.findings.end(),
                                  [](const auto& finding) { return finding.name == "stage program"; });
  REQUIRE(found != health.findings.end());
  CHECK(found->level == host::Level::ok);
}

TEST_CASE("two stages measure the way from one to the other, and can do it again") {
  ServedStage from;
  ServedStage to;
  for (int time = 0; time < 2; ++time) {
    const auto key = wire::random_key();
    const auto port = to.ask<Listening>(Listen{"127.0.0.1", 0}).port;
    to.send(AnswerProbe{key});
    const auto probed = from.ask<LinkProbed>(ProbeLink{"127.0.0.1", port, key});
    to.receive<ProbeAnswered>();
    CHECK(probed.round_trip_min_ns > 0);
    CHECK(probed.round_trip_ns >= probed.round_trip_min_ns);
    CHECK(probed.bytes >= kFirstTransfer);
    CHECK(probed.bit_per_s() > 0);
  }
}

TEST_CASE("a way that does not exist is a fault that says so, and no end") {
  ServedStage stage;
  const auto port = stage.ask<Listening>(Listen{"127.0.0.1", 0}).port;
  CHECK(contains(stage.ask<Fault>(AnswerProbe{{}, 0}).reason, std::to_string(port)));
  CHECK(contains(stage.ask<Fault>(ProbeLink{"127.0.0.1", port, {}, 0}).reason, "onnect"));
  CHECK(contains(stage.ask<Fault>(ProbeLink{"127.0.0.1", port, {}, 0, {0}}).reason, "0 round trips"));
  CHECK(contains(stage.ask<Fault>(AnswerProbe{{}, 0}).reason, "before listen"));
}

TEST_CASE("transfers grow until one tells the rate, and have an end on any network") {
  constexpr std::int64_t kLong = 500'000'000;
  constexpr std::int64_t kMost = std::int64_t{8} << 20;
  CHECK(next_transfer(kFirstTransfer, 1, kMost) == 2 * kFirstTransfer);
  CHECK_FALSE(next_transfer(kFirstTransfer, kLong, kMost));
  std::int64_t sum = 0;
  for (std::optional next = kFirstTransfer; next; next = next_transfer(*next, 1, kMost)) sum += *next;
  CHECK(sum < std::int64_t{16} << 20);
}

TEST_CASE("the times of a clock reading lie between the question and the answer") {
  ServedStage stage;
  const auto before = now_ns();
  const auto reading = stage.ask<ClockReading>(ClockProbe{});
  CHECK(before <= reading.received_at_ns);
  CHECK(reading.received_at_ns <= reading.sent_at_ns);
  CHECK(reading.sent_at_ns <= now_ns());
}

TEST_CASE("a request that is unknown or malformed is a fault, and the stage goes on listening") {
  ServedStage stage;
  for (const auto* request :
       {"{}", "[]", "null", "7", R"("run")", R"({"type":"restart","body":{}})", R"({"type":7,"body":{}})",
        R"({"type":["run"]})", R"({"type":"run"})", R"({"type":"run","body":{}})", R"({"type":"run","body":[]})",
        R"({"type":"load","body":{"model":5}})", R"({"type":"listen","body":{"address":5,"port":"x"}})",
        R"({"type":"fault","body":{"reason":"","exit_code":0,"kind":"refused"}})"}) {
    CAPTURE(request);
    stage.control().send_message(json::parse(request));
    const auto fault = stage.receive<Fault>();
    CHECK_FALSE(fault.reason.empty());
    CHECK(fault.exit_code != 0);
    CHECK(fault.kind == FaultKind::refused);
  }
  CHECK(stage.ask<ModelList>(ListModels{}).models.size() == 1);
}

TEST_CASE("requests in the wrong order are faults that say which came before which") {
  ServedStage stage;
  CHECK(contains(stage.ask<Fault>(Join{}).reason, "join before listen"));
  CHECK(contains(stage.ask<Fault>(make_runs({}).front()).reason, "run before join"));
  CHECK(contains(stage.ask<Fault>(lone_run()).reason, "alone must be the source"));
  stage.ask<Loaded>(load_all());
  CHECK(contains(stage.ask<Fault>(lone_run()).reason, "alone must be the source"));
  stage.make_source(2);
  CHECK_NOTHROW(stage.ask<RunReport>(lone_run()));
}

TEST_CASE("a run whose numbers cannot be is a fault before anything is allocated") {
  ServedStage stage;
  stage.make_source(1);
  const auto damage =
      GENERATE(as<int Run::*>{}, &Run::stage_count, &Run::batches, &Run::warmup, &Run::depth, &Run::micro_batches);
  for (const int value : {-1, 1'000'001, 2'147'483'647}) {
    auto request = lone_run();
    request.*damage = value;
    CAPTURE(value);
    CHECK(contains(stage.ask<Fault>(request).reason, "cannot be"));
  }
}

TEST_CASE("a schedule that cannot be is a fault: too short, too long, out of order, endless, or without a phase") {
  ServedStage stage;
  stage.make_source(1);
  auto request = lone_run();  // of 4 batches
  request.server = true;
  for (const auto& arrivals : std::vector<std::vector<std::int64_t>>{
           {}, {1, 2, 3}, {1, 2, 3, 4, 5}, {1, 3, 2, 4}, {-1, 2, 3, 4}, {1, 2, 3, 9'000'000'000'000'000'000}}) {
    request.arrivals = arrivals;
    CAPTURE(arrivals);
    CHECK(contains(stage.ask<Fault>(request).reason, "a schedule that cannot be"));
  }
  request.arrivals = {1, 2, 2, 4};
  CHECK(stage.ask<RunReport>(request).server.completed.size() == 4);
  request.server = false;
  CHECK(contains(stage.ask<Fault>(request).reason, "a schedule that cannot be"));
}

TEST_CASE("micro-batches that no batch can have are a fault, and so are more of them than can be reported") {
  ServedStage stage;
  for (const int micro_batches : {0, -1, 2'147'483'647}) {
    CAPTURE(micro_batches);
    CHECK(contains(stage.ask<Fault>(ComputeReferences{a_model(), kBlocks, 1, micro_batches}).reason, "batches of"));
    CHECK(contains(stage.ask<Fault>(TakeReferences{a_model(), 1, micro_batches, {}}).reason, "batches of"));
  }
  CHECK(contains(stage.ask<Fault>(ComputeReferences{a_model(), kBlocks, 0, 1}).reason, "0 batches"));
  stage.make_source(1);
  auto run = lone_run();
  run.micro_batches = 500'001;  // of 4 batches a phase
  CHECK(contains(stage.ask<Fault>(run).reason, "cannot be"));
}

TEST_CASE("the inputs of micro-batches are those of the whole batches, and each micro-batch has its own output") {
  ServedStage stage;
  const auto ends = stage.ask<ReferencesFollow>(ComputeReferences{a_model(), kBlocks, 2, 3}).ends;
  CHECK(ends.input.shape == std::vector<std::int64_t>{kBatch, 3, 32, 32});
  CHECK(ends.result.shape == std::vector<std::int64_t>{kBatch, 10});
  ServedStage source;
  source.make_source(2, 3);
  auto run = lone_run();
  run.micro_batches = 3;
  const auto report = source.ask<RunReport>(run);
  CHECK(report.single_stream.ready.size() == 4 * 3);
  CHECK(report.offline_results.completed.size() == 4 * 3);
  CHECK(report.max_abs_difference == 0);
}

TEST_CASE("blocks that the model does not have are a fault") {
  ServedStage stage;
  stage.make_source(1);
  for (const auto blocks : {experiment::BlockRange{0, kBlocks + 1}, experiment::BlockRange{-1, kBlocks}, {1, 2}}) {
    auto request = lone_run();
    request.blocks = blocks;
    CAPTURE(blocks.begin, blocks.end);
    CHECK_FALSE(stage.ask<Fault>(request).reason.empty());
  }
  CHECK_NOTHROW(stage.ask<RunReport>(lone_run()));
}

TEST_CASE("an optimized model is held against the eager one on a few images, and an eager one against nothing") {
  ServedStage stage;
  auto model = a_model();
  model.compute.compute = experiment::Compute::optimized;
  auto request = references_of(model);
  request.distinct_inputs = 6;
  const auto same = stage.ask<ReferencesFollow>(request);
  CHECK(same.against_eager.images == 8);  // of 12
  CHECK(same.against_eager.max_abs_difference == 0);
  CHECK(same.against_eager.top1_agreement == 1);
  CHECK(same.against_eager.tolerance > 0);
  CHECK(same.against_eager.tolerance < 1e-3);

  ServedStage other("off@0-3@5");  // the first of the calls after eager mode's four
  CHECK_FALSE(other.ask<ReferencesFollow>(request).against_eager.kept());
  ServedStage eager;
  CHECK(eager.ask<ReferencesFollow>(references_of(a_model())).against_eager.images == 0);
}

TEST_CASE("a source compares with the outputs that it was sent, whoever computed them") {
  ServedStage stage;
  stage.ask<Loaded>(load_all());
  const auto result = make_references(1).outputs.front();
  std::vector<std::byte> altered(result.bytes.begin(), result.bytes.end());
  altered.front() ^= std::byte{1};
  stage.send(TakeReferences{a_model(), 1, 1, {{}, result.spec}});
  stage.control().send_tensor(0, 0, result.spec, altered);
  stage.receive<ReferencesTaken>();
  CHECK(stage.ask<RunReport>(lone_run()).max_abs_difference > 0);
}

TEST_CASE("a source may be sent its inputs, too, and then computes what another one makes of its own") {
  constexpr int kInputs = 3;
  constexpr int kMicroBatches = 2;
  ServedStage unsplit;
  ComputeReferences wanted{a_model(), kBlocks, kInputs, kMicroBatches, true};
  const auto follow = unsplit.ask<ReferencesFollow>(wanted);
  CHECK(follow.labels.empty());
  ServedStage source;
  source.ask<Loaded>(load_all());
  auto elsewhere = a_model();
  elsewhere.data = "images:/nowhere";
  source.send(TakeReferences{elsewhere, kInputs, kMicroBatches, follow.ends, true, {}});
  for (std::uint64_t i = 0; i < 2 * kInputs * kMicroBatches; ++i) {
    const auto& spec = i < kInputs * kMicroBatches ? follow.ends.result : follow.ends.input;
    std::vector<std::byte> tensor(static_cast<std::size_t>(wire::byte_size(spec)));
    unsplit.control().receive_tensor(0, i, spec, tensor);
    source.control().send_tensor(0, i, spec, tensor);
  }
  source.receive<ReferencesTaken>();
  auto run = lone_run();
  run.micro_batches = kMicroBatches;
  CHECK(source.ask<RunReport>(run).max_abs_difference == 0);
}

TEST_CASE("labels that come with the inputs are what accuracy is of, and must be classes of the model") {
  const auto references = make_references(1);
  const auto& [input, output] = std::pair(references.inputs.front(), references.outputs.front());
  const auto row = as_floats(output).first(as_floats(output).size() / kBatch);
  for (const std::int64_t label : {static_cast<std::int64_t>(argmax(row)), std::int64_t{10}}) {
    ServedStage source;
    source.ask<Loaded>(load_all());
    source.send(TakeReferences{a_model(), 1, 1, {input.spec, output.spec}, true, {label}});
    source.control().send_tensor(0, 0, output.spec, output.bytes);
    source.control().send_tensor(0, 1, input.spec, input.bytes);
    if (label == 10) {
      CHECK(contains(source.receive<Fault>().reason, "has 10 classes"));
      continue;
    }
    source.receive<ReferencesTaken>();
    const auto accuracy = source.ask<RunReport>(lone_run()).accuracy;
    CHECK(accuracy.images == 1);
    CHECK(accuracy.top1 == 1);
  }
}

namespace {

/// A request and what follows it.
ChunkTaken send_chunk(ServedStage& stage, const TakeChunk& chunk, std::string bytes) {
  const auto spec = tensor_of(chunk);
  bytes.resize(static_cast<std::size_t>(wire::byte_size(spec)));
  stage.send(chunk);
  stage.control().send_tensor(0, 0, spec, std::as_bytes(std::span(bytes)));
  return stage.receive<ChunkTaken>();
}

}  // namespace

TEST_CASE("a file that was sent is found by its SHA-256, by other stages of the device, too") {
  const support::TemporaryFolder cache;
  const support::ScopedVariable there("XDG_CACHE_HOME", cache.path().string());
  const std::string text = "eleven byte";
  const auto sha256 = sha256_of_text(text);
  ServedStage stage;
  CHECK(stage.ask<FileFound>(FindFile{sha256}).path.empty());
  CHECK(send_chunk(stage, {sha256, 0, 8, 11}, text.substr(0, 8)).path.empty());
  CHECK(stage.ask<FileFound>(FindFile{sha256}).path.empty());
  const auto path = send_chunk(stage, {sha256, 8, 3, 11}, text.substr(8)).path;
  CHECK(path == cache.path() / "paretopipe" / "files" / sha256);
  CHECK(support::read_file(path) == text);
  ServedStage other;
  CHECK(other.ask<FileFound>(FindFile{sha256}).path == path);
}

TEST_CASE("a file that cannot be is a fault, nothing follows it, and the stage goes on listening") {
  ServedStage stage;
  const auto sha256 = sha256_of_text("");
  for (const auto& chunk : std::vector<TakeChunk>{{"../../.ssh/authorized_keys", 0, 1, 1},
                                                  {sha256, 0, 0, 1},
                                                  {sha256, 0, 2, 1},
                                                  {sha256, -1, 1, 1},
                                                  {sha256, 1, 1, 1},
                                                  {sha256, 9'223'372'036'854'775'807, 8, 9},
                                                  {sha256, 0, kChunkBytes + 1, kChunkBytes + 1},
                                                  {sha256, 0, 1, kLargestFileBytes + 1}}) {
    CAPTURE(chunk.sha256, chunk.offset, chunk.bytes, chunk.total);
    CHECK(contains(stage.ask<Fault>(chunk).reason, "the driver"));
  }
  CHECK(contains(stage.ask<Fault>(FindFile{"../" + sha256}).reason, "SHA-256"));
  CHECK(stage.ask<ModelList>(ListModels{}).models.size() == 1);
}

TEST_CASE("a login without a cache folder is a fault that says what to set") {
  const support::ScopedVariable no_cache("XDG_CACHE_HOME", "");
  const support::ScopedVariable no_home("HOME", "");
  ServedStage stage;
  const auto fault = stage.ask<Fault>(FindFile{sha256_of_text("")});
  CHECK(contains(fault.reason, "set HOME or XDG_CACHE_HOME"));
  CHECK(fault.exit_code == static_cast<int>(ExitCode::environment));
}

TEST_CASE("every run has a report of its own, and what its tensors took at most, whatever lives beside them") {
  ServedStage stage;
  std::vector<host::StageMemory> memory;
  for (const int inputs : {2, 7}) {
    stage.make_source(inputs);
    const auto report = stage.ask<RunReport>(lone_run());
    CHECK(report.single_stream.ready.size() == 4);
    CHECK(report.offline.ready.size() == 4);
    CHECK(report.max_abs_difference == 0);
    memory.push_back(report.memory);
  }
  CHECK(stage.ask<RunReport>(lone_run()).single_stream.ready.size() == 4);
  // What goes from the first block to the second is 4 kB, and 64 kB from there to the third.
  CHECK(memory[0].tensors_bytes >= 68'000);
  CHECK(memory[0].tensors_bytes < 100'000);
  CHECK(memory[1] == memory[0]);
}

TEST_CASE("the end of the control link ends the stage in order, and garbage on it with an error") {
  ServedStage orderly;
  orderly.ask<ModelList>(ListModels{});
  orderly.control().shutdown();
  CHECK_NOTHROW(orderly.wait());

  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  wire::Link control(ends[0]);
  const std::string garbage(64, 'x');
  REQUIRE(::write(ends[1], garbage.data(), garbage.size()) == 64);
  ::close(ends[1]);
  const auto backend = make_backend();
  CHECK_THROWS_AS(stage::serve(control, *backend), wire::ProtocolError);
}
