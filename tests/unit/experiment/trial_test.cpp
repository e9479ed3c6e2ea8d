#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/trial.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using nlohmann::json;
using Ranges = std::vector<BlockRange>;

namespace {

Archive an_archive(const std::string& sha256 = "ab12", std::int64_t width = 224, const std::string& cuts = "unit") {
  return {.sha256 = sha256, .input_shape = {3, 224, width}, .cuts = cuts};
}

ServerLoad at_rate(double image_per_s, int queries) {
  return {image_per_s, std::nullopt, queries};
}

ServerLoad highest_rate(const std::string& bound) {
  return {0, parse_latency_bound(bound), 5};
}

Trial a_trial() {
  Trial trial{{.model = "mobilenet_v2", .batch = 8, .data = "fashion-mnist", .cpus = {"0", "1"}}};
  trial.block_count = 20;
  trial.split_points = {7};
  trial.batches = 32;
  trial.warmup = 4;
  trial.depth = 4;
  trial.repetition = 2;
  return trial;
}

Trial split_at(std::vector<int> points) {
  auto trial = a_trial();
  trial.split_points = std::move(points);
  return trial;
}

}  // namespace

TEST_CASE("the first k blocks are on stage 0, the rest on stage 1", "[trial]") {
  CHECK(split_at({7}).stage_blocks() == Ranges{{0, 7}, {7, 20}});
  CHECK(split_at({7}).stage_count() == 2);
  CHECK_FALSE(split_at({7}).all_local());
  CHECK_FALSE(split_at({7}).all_remote());
}

TEST_CASE("at the endpoints one stage holds every block", "[trial]") {
  CHECK(split_at({0}).stage_blocks() == Ranges{{0, 0}, {0, 20}});
  CHECK(split_at({0}).all_remote());
  CHECK_FALSE(split_at({0}).all_local());
  CHECK(split_at({20}).stage_blocks() == Ranges{{0, 20}, {20, 20}});
  CHECK(split_at({20}).all_local());
  CHECK_FALSE(split_at({20}).all_remote());
}

TEST_CASE("several cuts make a chain of stages that covers every block once", "[trial]") {
  const auto trial = split_at({3, 3, 12});
  CHECK(trial.stage_count() == 4);
  CHECK(trial.stage_blocks() == Ranges{{0, 3}, {3, 3}, {3, 12}, {12, 20}});
}

TEST_CASE("a label says what a person needs to know, and counts repetitions from one", "[trial]") {
  CHECK(a_trial().label() == "mobilenet_v2 split 7/20 batch 8 repetition 3");
  CHECK(split_at({3, 12}).label() == "mobilenet_v2 split 3,12/20 batch 8 repetition 3");
  auto shaped = a_trial();
  shaped.network.name = "wifi";
  shaped.shaping = Shaping::emulated;
  auto cut = a_trial();
  cut.micro_batch = 2;
  CHECK(cut.label() == "mobilenet_v2 split 7/20 batch 8 micro-batch 2 repetition 3");
  auto optimized = a_trial();
  optimized.compute.compute = Compute::optimized;
  CHECK(optimized.label() == "mobilenet_v2 split 7/20 batch 8 optimized repetition 3");
  CHECK(shaped.label() == "mobilenet_v2 split 7/20 batch 8 over wifi (emulated) repetition 3");
}

TEST_CASE("a trial comes back from JSON as it was", "[trial]") {
  auto trial = a_trial();
  trial.seed = 18446744073709551615u;
  trial.tuning.tune_malloc = false;
  CHECK(json(trial).get<Trial>() == trial);
  trial.weights_sha256 = std::string(64, 'a');
  CHECK(json(trial).get<Trial>() == trial);
  CHECK(json(trial).at("weights_sha256") == trial.weights_sha256);
  trial.compute = {Compute::optimized, Precision::bfloat16, MemoryFormat::channels_last};
  CHECK(json(trial).get<Trial>() == trial);
  trial.data_identity = {std::string(64, 'd'), "own"};
  CHECK(json(trial).get<Trial>() == trial);
  CHECK(json(trial).at("data_sha256") == trial.data_identity.sha256);
  CHECK(json(trial).at("labels") == "own");
  trial.network.name = "mine";
  trial.network.forward.rate_bit_per_s = 5'000'000;
  trial.network.backward.loss = 0.1;
  trial.shaping = Shaping::netem;
  CHECK(json(trial).get<Trial>() == trial);
  CHECK(json::parse(json(trial).dump()).get<Trial>() == trial);
  trial.archive = an_archive();
  CHECK(json::parse(json(trial).dump()).get<Trial>() == trial);
}

TEST_CASE("the identity of a trial never changes: results on disk are found by it", "[trial]") {
  // If this fails, every record that was ever written is orphaned. Do not adapt the constants; mend the code.
  CHECK(json(a_trial()).dump() ==
        R"({"batch":8,"batches":32,"block_count":20,"cpus":["0","1"],"data":"fashion-mnist","depth":4,)"
        R"("model":"mobilenet_v2","num_classes":10,"repetition":2,"seed":1,"split_points":[7],"threads_per_stage":1,)"
        R"("tuning":{"flush_denormals":true,"passive_openmp_wait":true,"tune_malloc":true},"warmup":4})");
  CHECK(a_trial().id() == "3bf87ca3cada54b9");
}

TEST_CASE("an archive's trial says what the file is, and has no classes, which are the file's", "[trial]") {
  auto trial = a_trial();
  trial.archive = an_archive();
  CHECK(json(trial).at("archive") == json::parse(R"({"sha256":"ab12","input_shape":[3,224,224],"cuts":"unit"})"));
  CHECK_FALSE(json(trial).contains("num_classes"));
  CHECK_FALSE(json(a_trial()).contains("archive"));
}

TEST_CASE("a batch is cut into micro-batches of its micro-batch, and is one micro-batch without", "[trial]") {
  auto trial = a_trial();
  CHECK(trial.images_per_micro_batch() == 8);
  CHECK(trial.micro_batches() == 1);
  CHECK_FALSE(json(trial).contains("micro_batch"));
  trial.micro_batch = 2;
  CHECK(trial.images_per_micro_batch() == 2);
  CHECK(trial.micro_batches() == 4);
  CHECK(json(trial).at("micro_batch") == 2);
  CHECK(json(trial).get<Trial>() == trial);
}

TEST_CASE("a trial says its load, and one without keeps the identity that it had before there were loads", "[trial]") {
  auto trial = a_trial();
  CHECK_FALSE(json(trial).contains("server"));
  trial.server = at_rate(12.5, 64);
  CHECK(support::contains(trial.label(), " (Server at 12.5 image/s, 64 queries) repetition 3"));
  auto damaged = json(trial);
  damaged["server"]["queries"] = 0;
  CHECK_THROWS_AS(damaged.get<Trial>(), UsageError);
}

TEST_CASE("a trial of one phase says so, and one of both keeps the identity that it had before there was a choice",
          "[trial]") {
  auto trial = a_trial();
  CHECK_FALSE(json(trial).contains("phases"));
  trial.phases = Phases::single_stream;
  CHECK(json(trial).at("phases") == "single-stream");
  CHECK(support::contains(trial.label(), " batch 8 single-stream only repetition 3"));
  CHECK(json::parse(json(trial).dump()).get<Trial>() == trial);
  auto damaged = json(trial);
  damaged["phases"] = "singlestream";
  CHECK_THROWS_WITH(damaged.get<Trial>(), paretopipe::support::containing("must be both or single-stream or offline"));
}

TEST_CASE("a search for the highest rate needs the throughput that it begins at", "[trial]") {
  auto trial = a_trial();
  trial.server = highest_rate("p99 < 10ms");
  trial.phases = Phases::offline;
  CHECK(json(trial).get<Trial>() == trial);
  trial.phases = Phases::single_stream;
  CHECK_THROWS_AS(json(trial).get<Trial>(), UsageError);
  trial.server = at_rate(10, 5);
  CHECK(json(trial).get<Trial>() == trial);
}

TEST_CASE("micro-batches that no plan makes are refused, not divided by", "[trial]") {
  for (const int micro_batch : {-1, 3, 8, 16, 2'147'483'647}) {
    auto damaged = json(a_trial());
    damaged["micro_batch"] = micro_batch;
    CAPTURE(micro_batch);
    CHECK_THROWS_AS(damaged.get<Trial>(), UsageError);
  }
  auto empty = json(a_trial());
  empty["batch"] = 0;
  CHECK_THROWS_AS(empty.get<Trial>(), UsageError);
}

TEST_CASE("on CPUs of several kinds results may differ by roundings in every mode", "[trial]") {
  auto trial = a_trial();
  trial.compute = {};
  CHECK(trial.relative_tolerance(Cpus::of_one_kind) == 0);
  CHECK(trial.relative_tolerance(Cpus::of_several_kinds) == Approx(1e-4));
  trial.compute.dtype = Precision::bfloat16;
  CHECK(trial.relative_tolerance(Cpus::of_one_kind) == 0);
  CHECK(trial.relative_tolerance(Cpus::of_several_kinds) == Approx(0.15));
  trial.compute.compute = Compute::optimized;
  CHECK(trial.relative_tolerance(Cpus::of_one_kind) == Approx(0.05));
  CHECK(trial.relative_tolerance(Cpus::of_several_kinds) == Approx(0.15));
  trial.compute_devices = {"cpu", "cuda:0"};
  CHECK(trial.relative_tolerance(Cpus::of_several_kinds) == Approx(0.15));
}

TEST_CASE("with a GPU results may differ by roundings, as optimized ones may", "[trial]") {
  auto trial = a_trial();
  CHECK(trial.relative_tolerance() == 0);
  trial.compute_devices = {"cpu", "cuda:0"};
  CHECK(trial.relative_tolerance() == Approx(1e-4));
  CHECK(trial.label().find("computing on cpu, cuda:0") != std::string::npos);
  CHECK(json(trial).get<Trial>() == trial);
  auto damaged = json(trial);
  damaged["compute_devices"] = {"cuda:0"};
  CHECK_THROWS_AS(damaged.get<Trial>(), UsageError);
  damaged["compute_devices"] = {"cpu", "tpu"};
  CHECK_THROWS_AS(damaged.get<Trial>(), UsageError);
}

TEST_CASE("a placement or device profiles that do not fit the stages are refused, not looked up", "[trial]") {
  auto damaged = json(a_trial());
  for (const auto* placement : {"[0]", "[1, 0]", "[0, 2]", "[0, -1]"}) {
    CAPTURE(placement);
    damaged["placement"] = json::parse(placement);
    CHECK_THROWS_AS(damaged.get<Trial>(), UsageError);
  }
  damaged.erase("placement");
  damaged["devices"] = json::parse(R"([{"name": "pi"}])");
  CHECK_THROWS_AS(damaged.get<Trial>(), UsageError);
}

TEST_CASE("threads and profile of a stage are those of its device", "[trial]") {
  auto trial = a_trial();
  trial.split_points = {2, 18};
  CHECK(trial.threads_of(2) == 1);
  trial.placement = {0, 1, 0};
  trial.devices = {{.name = "pi", .threads = 3}, {}};
  CHECK(trial.threads_of(0) == 3);
  CHECK(trial.threads_of(1) == 1);
  CHECK(trial.threads_of(2) == 3);
  CHECK(trial.device_profile(2).name == "pi");
  CHECK(support::contains(trial.label(), " on pi, none placed 0,1,0"));
}

TEST_CASE("all is remote where every block is on the device farthest from the source", "[trial]") {
  auto trial = a_trial();
  trial.split_points = {0, 0};
  CHECK(trial.all_remote());
  trial.placement = {0, 1, 0};
  CHECK_FALSE(trial.all_remote());
  trial.split_points = {0, 20};
  CHECK(trial.all_remote());
  trial.placement = {0, 0, 0};
  CHECK_FALSE(trial.all_remote());
}

TEST_CASE("whatever decides a run changes the identity, and equal trials share it", "[trial]") {
  const std::vector<std::function<void(Trial&)>> changes{
      [](Trial& trial) { trial.model = "resnet18"; },
      [](Trial& trial) { trial.num_classes = 11; },
      [](Trial& trial) { trial.block_count = 21; },
      [](Trial& trial) { trial.split_points = {8}; },
      [](Trial& trial) { trial.split_points.push_back(8); },
      [](Trial& trial) { trial.batch = 9; },
      [](Trial& trial) { trial.micro_batch = 2; },
      [](Trial& trial) { trial.micro_batch = 4; },
      [](Trial& trial) { trial.server = at_rate(10, 5); },
      [](Trial& trial) { trial.server = at_rate(10, 6); },
      [](Trial& trial) { trial.server = at_rate(11, 5); },
      [](Trial& trial) { trial.server = highest_rate("p99 < 10ms"); },
      [](Trial& trial) { trial.server = highest_rate("p95 < 10ms"); },
      [](Trial& trial) { trial.phases = Phases::single_stream; },
      [](Trial& trial) { trial.phases = Phases::offline; },
      [](Trial& trial) { trial.batches = 33; },
      [](Trial& trial) { trial.warmup = 5; },
      [](Trial& trial) { trial.depth = 5; },
      [](Trial& trial) { trial.repetition = 3; },
      [](Trial& trial) { trial.seed = 2; },
      [](Trial& trial) { trial.data = "random"; },
      [](Trial& trial) { trial.weights_sha256 = "ab"; },
      [](Trial& trial) { trial.data_identity.sha256 = "ab"; },
      [](Trial& trial) { trial.data_identity.labels = "ab"; },
      [](Trial& trial) { trial.threads_per_stage = 2; },
      [](Trial& trial) {
        trial.cpus = {"0,1", ""};
      },
      [](Trial& trial) { trial.cpus = {}; },
      [](Trial& trial) {
        trial.placement = {0, 0};
      },
      [](Trial& trial) {
        trial.compute_devices = {"cpu", "cuda:0"};
      },
      [](Trial& trial) {
        trial.devices = {{.name = "pi"}, {}};
      },
      [](Trial& trial) {
        trial.devices = {{.name = "pi", .cpu_quota = 0.5}, {}};
      },
      [](Trial& trial) {
        trial.devices = {{}, {.name = "pi", .cpu_quota = 0.5}};
      },
      [](Trial& trial) { trial.tuning.flush_denormals = false; },
      [](Trial& trial) { trial.tuning.tune_malloc = false; },
      [](Trial& trial) { trial.tuning.passive_openmp_wait = false; },
      [](Trial& trial) { trial.compute.compute = Compute::optimized; },
      [](Trial& trial) { trial.compute.dtype = Precision::bfloat16; },
      [](Trial& trial) { trial.compute.memory_format = MemoryFormat::channels_last; },
      [](Trial& trial) { trial.shaping = Shaping::emulated; },
      [](Trial& trial) { trial.shaping = Shaping::netem; },
      [](Trial& trial) { trial.network.name = "wifi"; },
      [](Trial& trial) { trial.network.forward.delay = std::chrono::milliseconds(3); },
      [](Trial& trial) { trial.network.backward.delay = std::chrono::milliseconds(3); },
      [](Trial& trial) { trial.network.backward.loss = 0.01; },
      [](Trial& trial) { trial.archive = an_archive(); },
      [](Trial& trial) { trial.archive = an_archive("ab13"); },
      [](Trial& trial) { trial.archive = an_archive("ab12", 225); },
      [](Trial& trial) { trial.archive = an_archive("ab12", 224, "all"); },
  };
  std::set<std::string> ids{a_trial().id()};
  for (const auto& change : changes) {
    auto trial = a_trial();
    change(trial);
    ids.insert(trial.id());
    CHECK(trial.id() == json(trial).get<Trial>().id());
  }
  CHECK(ids.size() == changes.size() + 1);
}
