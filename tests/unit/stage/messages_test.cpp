#include <paretopipe/stage/file_messages.hpp>
#include <paretopipe/stage/messages.hpp>

#include <set>
#include <string>

#include <support/catch.hpp>
#include <support/golden.hpp>

using namespace paretopipe;
using namespace paretopipe::stage;
using nlohmann::json;

namespace {

const ModelRequest kRequest{"resnet18", 100, 8, 18446744073709551615U, "cifar10:/data", "/w.pth"};
const wire::TensorSpec kSpec{wire::DType::bfloat16, wire::MemoryFormat::channels_last, {1, 2, 3, 4}};

/// Messages as they cross, a line each, of which no two have one type.
class Messages {
 public:
  /// It must come back from its text with every field.
  template <class Message>
  void add(const Message& message) {
    CAPTURE(Message::kType);
    CHECK(types_.insert(Message::kType).second);
    text += wrap(message).dump() + "\n";
    const auto back = unwrap<Message>(json::parse(wrap(message).dump()));
    REQUIRE(back.has_value());
    CHECK(wrap(*back) == wrap(message));
  }

  std::string text;

 private:
  std::set<std::string_view> types_;
};

wire::Key a_key() {
  wire::Key key;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) key.bytes[i] = static_cast<std::byte>(7 * i);
  return key;
}

StageTimeline a_timeline(std::int64_t first) {
  StageTimeline timeline;
  for (const auto member : kStageMoments) timeline.*member = {first++};
  return timeline;
}

}  // namespace

TEST_CASE("every request and every reply crosses with all of its fields, as the golden file has them") {
  Messages messages;
  messages.add(Fault{"no such file", 3, FaultKind::peer_lost});
  messages.add(Configure{1, "2-3", {4, false, false, "cuda:1"}, 3});
  messages.add(ListModels{});
  messages.add(ModelList{{"alexnet", "synthetic:…"}});
  Describe archive{{"/a/net.pt", 10, 2, 1, "random", "", experiment::Archive{"ab12", {3, 4}, "all"}}};
  archive.model.compute = {experiment::Compute::optimized, experiment::Precision::bfloat16,
                           experiment::MemoryFormat::channels_last};
  archive.model.labels = "/l.txt";
  archive.model.cut_positions = {2, 5};
  messages.add(archive);
  messages.add(Described{{"m", 2, {2, 3}, 24, {{"fc", {2, 10}, 80, 30, 120, 60}}}});
  messages.add(Listen{"::1", 5000, 65535});
  messages.add(Listening{5001});
  messages.add(Join{"127.0.0.1", 5002, a_key(), 7, 3, "stage 0 to 1", "stage 1 to 2", true});
  messages.add(Joined{});
  messages.add(FindFile{"ab12"});
  messages.add(FileFound{"/c/ab12"});
  messages.add(TakeChunk{"ab12", 4194304, 9, 9007199254740993});
  messages.add(ChunkTaken{"/c/ab12"});
  messages.add(FindFolder{{"1.png", "2.png"}, {"ab12", "cd34"}});
  messages.add(FolderFound{"/c/ef56.folder", {"cd34"}});
  messages.add(ProbeLink{"10.0.0.2", 5003, a_key(), 6, {3, 9007199254740993, 4}});
  messages.add(LinkProbed{9007199254740993, 7, 8, 9});
  messages.add(AnswerProbe{a_key(), 6, {3, 9007199254740993, 4}});
  messages.add(ProbeAnswered{});
  messages.add(OpenRelay{2, "10.0.0.2", 5004});
  messages.add(RelayOpened{"127.0.0.1", 5005});
  ShapeRelay shape{2, {}, {}, 9223372036854775809U};
  shape.forward.delay = Nanoseconds(3);
  shape.backward.rate_bit_per_s = 9007199254740993;
  messages.add(shape);
  messages.add(RelayShaped{});
  messages.add(WatchRelays{9007199254740993});
  messages.add(RelaysWatched{});
  messages.add(ReadRelays{});
  shaping::LatenessMeter lateness(Nanoseconds(5));
  lateness.add(Nanoseconds(7));
  messages.add(RelaysRead{{{2, lateness}}, "no route"});
  messages.add(LeaseInterface{"10.0.0.2", {5006, 5007}, shape.backward});
  messages.add(InterfaceLeased{"eth0", shape.backward});
  messages.add(ReadLease{});
  messages.add(CheckHealth{});
  messages.add(
      Health{{{"load", host::Level::warning, "2.00", "others", "wait"}}, {48.5, 0x50000U, 600, 1800}, {-7, 2000}});
  messages.add(Load{kRequest, {2, 5}, true});
  messages.add(Loaded{12});
  messages.add(ComputeReferences{kRequest, 5, 8, 3, true});
  messages.add(ReferencesFollow{{kSpec, kSpec}, {0.5, 0.75, 8, 0.25}, {9, 0}});
  messages.add(TakeReferences{kRequest, 8, 3, {kSpec, kSpec}, true, {9, 0}});
  messages.add(ReferencesTaken{});
  messages.add(Run{4294967295U,
                   3,
                   {1, 2},
                   {kSpec, kSpec},
                   {codec::Quantiser::sort8, codec::Compressor::none},
                   {codec::Quantiser::channel8, codec::Compressor::zstd},
                   5,
                   6,
                   7,
                   9,
                   experiment::Phases::offline,
                   true,
                   {0, 10, 9007199254740993},
                   4,
                   2});
  messages.add(Prepare{{1, 2}, {kSpec}});
  CHECK(json(Prepared{}) == json::object());
  messages.add(Prepared{Preparation{true, 1, 9007199254740993, 2, 3, 4}});
  messages.add(TimeRuns{kRequest, 5, 1, {2, 4}, 9, true, 100, 200});
  messages.add(RunTimes{{{2, {10, 9007199254740993}, 11}, {4, {12, 13}}}});
  messages.add(TimeCodecs{kRequest, 5, 3, {codec::parse("uniform8"), codec::parse("channel8+zstd:9")}, 9});
  messages.add(CodecTimes{{{500, {10, 9007199254740993}, {11, 12}}, {300, {13}, {14}}}});
  messages.add(FetchResult{4294967295U});
  messages.add(ResultFollows{});
  messages.add(ClockProbe{});
  messages.add(ClockReading{-1, 9007199254740993});
  Configured configured;
  configured.host = {"host", "boot", "time:[1]", "Linux", "Debian", "x86_64", "CPU", 4, 5, "powersave"};
  configured.cpus = "0";
  configured.compute = {{"threads", 2}};
  configured.git_state = "abc123";
  messages.add(configured);
  RunReport report;
  report.single_stream = a_timeline(10);
  report.offline = a_timeline(20);
  report.single_stream_results = {{30}, {31}, {32}};
  report.offline_results = {{40}, {41}, {42}};
  report.server = {{50}, {51}, {52}};
  report.max_abs_difference = 0.5;
  report.mean_abs_difference = 0.125;
  report.top1_agreement = 0.25;
  report.largest_output = 0.75;
  report.accuracy = {0.75, 4};
  report.usage = {1, 2, 3, 4, 5, 6};
  report.peak_rss_bytes = 7;
  report.held_parameter_bytes = 8;
  report.memory = {17, 18, 19};
  report.state = {1.5, 9, 10};
  report.conditions = {11, 12, host::CpuTime{13, 14, 15}};
  report.gpu = {0.5, 16};
  messages.add(report);
  CHECK(messages.text == support::golden("stage/messages.jsonl", messages.text));
}

TEST_CASE("an envelope with another message, or none, holds no message of this type") {
  for (const auto* other : {R"({"type":"joined","body":{}})", R"({"body":{}})", "{}", "[]", "[{}]", "7", "null"}) {
    CAPTURE(other);
    CHECK_FALSE(unwrap<Listening>(json::parse(other)).has_value());
  }
}

TEST_CASE("a message of this type without its fields is an error, not a message of defaults") {
  for (const auto* damaged : {R"({"type":"listening"})", R"({"type":"listening","body":{}})",
                              R"({"type":"listening","body":[5]})", R"({"type":"listening","body":{"port":"5"}})"}) {
    CAPTURE(damaged);
    CHECK_THROWS_AS(unwrap<Listening>(json::parse(damaged)), json::exception);
  }
}

TEST_CASE("a stage program of before does not say its git state, and is understood") {
  json written = Configured{.host = {}, .cpus = "0", .compute = {}, .git_state = "abc123"};
  CHECK(written.get<Configured>().git_state == "abc123");
  written.erase("git_state");
  CHECK(written.get<Configured>().git_state.empty());
  CHECK(written.get<Configured>().cpus == "0");
  written["git_state"] = 5;
  CHECK_THROWS_AS(written.get<Configured>(), json::exception);
}

TEST_CASE("of a stage of another release the version is understood, whatever else it says") {
  const auto other = nlohmann::json{{"protocol_version", kControlProtocolVersion + 1}, {"host", "renamed"}};
  CHECK(other.get<Configured>().protocol_version == kControlProtocolVersion + 1);
  CHECK_THROWS_AS(nlohmann::json({{"protocol_version", kControlProtocolVersion}}).get<Configured>(),
                  nlohmann::json::exception);
}
