#include <paretopipe/stage/messages.hpp>

#include <set>
#include <string>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::stage;
using nlohmann::json;

namespace {

const ModelRequest kRequest{"resnet18", 100, 8, 18446744073709551615U, "cifar10:/data", "/w.pth"};
const char* const kRequestText =
    R"({"model":"resnet18","num_classes":100,"batch":8,"seed":18446744073709551615,"data":"cifar10:/data","weights":"/w.pth","labels":""})";
const wire::TensorSpec kSpec{wire::DType::bfloat16, wire::MemoryFormat::channels_last, {1, 2, 3, 4}};
const char* const kSpecText = R"({"dtype":"bfloat16","memory_format":"channels_last","shape":[1,2,3,4]})";

std::set<std::string_view> types;

/// The body is the text, with every field in it, and the message comes back from it.
template <class Message>
void check(const Message& message, const std::string& body) {
  CAPTURE(Message::kType);
  CHECK(types.insert(Message::kType).second);
  const json expected{{"type", Message::kType}, {"body", json::parse(body)}};
  CHECK(wrap(message) == expected);
  const auto back = unwrap<Message>(json::parse(wrap(message).dump()));
  REQUIRE(back.has_value());
  CHECK(wrap(*back) == expected);
}

StageTimeline a_timeline(std::int64_t first) {
  StageTimeline timeline;
  for (const auto member : kStageMoments) timeline.*member = {first++};
  return timeline;
}

std::string text_of_timeline(int first) {
  json moments;
  for (const auto* key :
       {"receive_begin", "receive_end", "ready", "compute_begin", "compute_end", "encoded", "send_begin", "send_end"}) {
    moments[key] = {first++};
  }
  return moments.dump();
}

}  // namespace

TEST_CASE("every request and every reply crosses with all of its fields") {
  types.clear();
  check(Fault{"no such file", 3, true}, R"({"reason":"no such file","exit_code":3,"peer_lost":true})");
  check(Configure{1, "2-3", {4, false, false, "cuda:1"}, 3},
        R"({"stage":1,"cpus":"2-3","stages":3,)"
        R"("compute":{"threads":4,"flush_denormals":false,"tune_malloc":false,"device":"cuda:1"}})");
  check(ListModels{}, "{}");
  check(ModelList{{"alexnet", "synthetic:…"}}, R"({"models":["alexnet","synthetic:…"]})");
  check(Describe{kRequest}, std::string(R"({"model":)") + kRequestText + "}");
  check(Listen{"::1", 65535}, R"({"address":"::1","port":65535})");
  check(Listening{5001}, R"({"port":5001})");
  check(Join{"127.0.0.1", 5002, 18446744073709551615U, 7, 3},
        R"({"next_host":"127.0.0.1","next_port":5002,"token":18446744073709551615,"timeout_s":7,"device":3})");
  check(Joined{}, "{}");
  check(Load{kRequest, {2, 5}, true},
        std::string(R"({"blocks":{"begin":2,"end":5},"alone":true,"model":)") + kRequestText + "}");
  check(Loaded{12}, R"({"held_parameter_bytes":12})");
  check(ComputeReferences{kRequest, 5, 8, 3},
        std::string(R"({"block_count":5,"distinct_inputs":8,"micro_batches":3,"model":)") + kRequestText + "}");
  check(ReferencesFollow{{kSpec, kSpec}, {0.5, 0.75, 8, 0.25}},
        std::string(R"({"ends":{"input":)") + kSpecText + R"(,"result":)" + kSpecText +
            R"(},"against_eager":{"max_abs_difference":0.5,"top1_agreement":0.75,"images":8,"tolerance":0.25}})");
  check(TakeReferences{kRequest, 8, 3, kSpec}, std::string(R"({"distinct_inputs":8,"micro_batches":3,"result":)") +
                                                   kSpecText + R"(,"model":)" + kRequestText + "}");
  check(ReferencesTaken{}, "{}");
  check(
      Run{4294967295U,
          3,
          {1, 2},
          {kSpec, kSpec},
          5,
          6,
          7,
          9,
          experiment::Phases::offline,
          true,
          {0, 10, 9007199254740993},
          4,
          2},
      std::string(R"({"tag":4294967295,"stage_count":3,"blocks":{"begin":1,"end":2},"warmup":5,"batches":6,)") +
          R"("depth":7,"micro_batches":9,"phases":"offline","server":true,"arrivals":[0,10,9007199254740993],"devices":4,"device":2,"incoming":[)" +
          kSpecText + "," + kSpecText + "]}");
  check(Prepare{{1, 2}, {kSpec}}, std::string(R"({"blocks":{"begin":1,"end":2},"incoming":[)") + kSpecText + "]}");
  CHECK(json(Prepared{}) == json::object());
  check(Prepared{Preparation{true, 1, 9007199254740993, 2, 3, 4}},
        R"({"preparation":{"made":true,"duration_ns":1,"graph_bytes":9007199254740993,"graphs":2,"graphs_bytes":3,)"
        R"("limit_bytes":4}})");
  check(FetchResult{4294967295U}, R"({"tag":4294967295})");
  check(ResultFollows{}, "{}");
  check(ClockProbe{}, "{}");
  check(ClockReading{-1, 9007199254740993}, R"({"received_at_ns":-1,"sent_at_ns":9007199254740993})");
}

TEST_CASE("the replies that describe machines, models and runs cross with all of their fields") {
  types.clear();
  Configured configured;
  configured.host = {"host", "boot", "time:[1]", "Linux", "Debian", "x86_64", "CPU", 4, 5, "powersave"};
  configured.cpus = "0";
  configured.compute = {{"threads", 2}};
  check(configured, R"({"protocol_version":)" + std::to_string(kControlProtocolVersion) +
                        R"(,"cpus":"0","compute":{"threads":2},"host":{"hostname":"host",
    "boot_id":"boot","time_namespace":"time:[1]","kernel":"Linux","os":"Debian","architecture":"x86_64","cpu_model":"CPU","cpu_count":4,
    "memory_bytes":5,"governor":"powersave"}})");
  check(Described{{"m", 2, {2, 3}, 24, {{"fc", {2, 10}, 80, 30, 120, 60}}}},
        R"({"description":{"model":"m","batch":2,"input_shape":[2,3],"input_bytes":24,"blocks":[{"name":"fc",
    "output_shape":[2,10],"activation_bytes":80,"parameters":30,"parameter_bytes":120,"multiply_accumulates":60}]}})");
  Describe archive{{"/a/net.pt", 10, 2, 1, "random", "", experiment::Archive{"ab12", {3, 4}, "all"}}};
  archive.model.compute = {experiment::Compute::optimized, experiment::Precision::bfloat16,
                           experiment::MemoryFormat::channels_last};
  archive.model.labels = "/l.txt";
  archive.model.cut_positions = {2, 5};
  check(archive, R"({"model":{"model":"/a/net.pt","num_classes":10,"batch":2,"seed":1,"data":"random","weights":"",
    "labels":"/l.txt","archive":{"sha256":"ab12","input_shape":[3,4],"cuts":"all"},"compute":"optimized","dtype":"bfloat16",
    "memory_format":"channels_last","cut_positions":[2,5]}})");
  RunReport report;
  report.single_stream = a_timeline(10);
  report.offline = a_timeline(20);
  report.single_stream_results = {{30}, {31}, {32}};
  report.offline_results = {{40}, {41}, {42}};
  report.server = {{50}, {51}, {52}};
  report.max_abs_difference = 0.5;
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
  check(report, R"({"single_stream":)" + text_of_timeline(10) + R"(,"offline":)" + text_of_timeline(20) +
                    R"(,"single_stream_results":{"receive_begin":[30],"receive_end":[31],"completed":[32]},
    "offline_results":{"receive_begin":[40],"receive_end":[41],"completed":[42]},
    "server":{"scheduled":[50],"handed_over":[51],"completed":[52]},"max_abs_difference":0.5,
        "top1_agreement":0.25,"largest_output":0.75,"accuracy":{"top1":0.75,"images":4},"usage":{"user_time_ns":1,"system_time_ns":2,"minor_page_faults":3,"major_page_faults":4,
    "voluntary_context_switches":5,"involuntary_context_switches":6},"peak_rss_bytes":7,"held_parameter_bytes":8,
    "memory":{"weights_bytes":17,"prepared_bytes":18,"tensors_bytes":19},
    "state":{"load_average_1min":1.5,"available_memory_bytes":9,"cpu_frequency_hz":10},
    "conditions":{"probe_before_ns":11,"probe_after_ns":12,"time":{"wall_ns":13,"busy_ns":14,"stolen_ns":15}},
    "gpu":{"utilisation":0.5,"samples":16}})");
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

TEST_CASE("of a stage of another release the version is understood, whatever else it says") {
  const auto other = nlohmann::json{{"protocol_version", kControlProtocolVersion + 1}, {"host", "renamed"}};
  CHECK(other.get<Configured>().protocol_version == kControlProtocolVersion + 1);
  CHECK_THROWS_AS(nlohmann::json({{"protocol_version", kControlProtocolVersion}}).get<Configured>(),
                  nlohmann::json::exception);
}
