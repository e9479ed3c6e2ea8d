#include <paretopipe/analysis/predict/profile.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <nlohmann/json.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// 18 ms on any device; what crosses is small, then large, then small.
const Words kModel = "--model synthetic:5ms/200kB,3ms/2MB,8ms/40kB,2ms";

/// What kModel's blocks from `begin` to before `end` take.
std::int64_t block_ns(int begin, int end) {
  constexpr std::int64_t kBlocks[] = {5'000'000, 3'000'000, 8'000'000, 2'000'000};
  return std::accumulate(kBlocks + begin, kBlocks + end, std::int64_t{0});
}

/// Long enough that this machine's own microseconds are far below 1 %.
const Words kLongModel = "--model synthetic:20ms/200kB,15ms/400kB,30ms/40kB,10ms";

/// Latency in nanoseconds (the least that was measured: others on this machine only add to it) and images per second,
/// by the split point.
using Speeds = std::map<int, std::pair<double, double>>;

constexpr int kAllLocal = 4;

/// Predictions for the splits on the frontier of two stages.
Speeds predicted(const Shell& shell, const std::string& options) {
  const auto prediction = shell.as_json(Words("predict p.json") + options);
  CHECK(prediction.at("predicted") == true);
  Speeds speeds;
  for (const auto& split : prediction.at("frontier")) {
    const auto& points = split.at("split_points");
    speeds[points.empty() ? kAllLocal : points.front().get<int>()] = {split.at("latency_ns").at("value"),
                                                                      split.at("throughput_image_per_s").at("value")};
  }
  return speeds;
}

Speeds measured(const Shell& shell, const Words& network) {
  std::filesystem::remove_all(shell.folder() / "out");
  shell.run(Words("sweep --data random --out out --repeat-slow 0 --repeat 1 --batches 16 --warmup 4") + kLongModel +
            network);
  Speeds speeds;
  for (const auto& record : shell.records()) {
    if (record.status != record::Status::ok) continue;  // others on this machine delayed the link
    speeds[record.trial.split_points.front()] = {record.summary->latency.value().min_ns,
                                                 record.summary->throughput_image_per_s.value()};
  }
  return speeds;
}

/// The largest error as a share of what was measured.
double worst_error(const Speeds& predictions, const Speeds& measurements) {
  double worst = 0;
  for (const auto& [split, speed] : predictions) {
    if (!measurements.contains(split)) return 1;
    const auto& [latency, throughput] = measurements.at(split);
    UNSCOPED_INFO("split " << split << ": predicted " << speed.first << " ns, " << speed.second << " image/s; measured "
                           << latency << " ns, " << throughput << " image/s");
    worst = std::max({worst, std::abs(speed.first / latency - 1), std::abs(speed.second / throughput - 1)});
  }
  return worst;
}

/// Others on this machine only add to what is known of the model, to predictions and measurements alike. So these
/// bounds decide, and how close both were is only told: `unit_predict` holds the model of the pipeline against known
/// profiles, and `bench_predict` measures.
void check_within(double share, const std::string& asked, const Words& network, double least_transfer_ns) {
  const Shell shell;
  shell.write("slow.json", R"({"both": {"delay": "3 ms", "rate": "100 Mbit/s"}})");
  constexpr double kComputeNs = 75e6;
  shell.run(0, Words("profile --out p.json --rounds 5") + kLongModel);
  const auto predictions = predicted(shell, asked);
  const auto measurements = measured(shell, network);
  REQUIRE(!predictions.empty());
  for (const auto* speeds : {&predictions, &measurements}) {
    for (const auto& [split, speed] : *speeds) {
      CAPTURE(split, speed.second);
      CHECK(speed.first >= kComputeNs + (split == kAllLocal ? 0 : least_transfer_ns));
    }
  }
  const auto worst = worst_error(predictions, measurements);
  if (worst > share) WARN("a busy machine: off by " << worst << ", not " << share);
}

/// Instead of what this machine's loopback gave.
void make_links_known(predict::Profile& profile) {
  for (auto& link : profile.links) {
    link.round_trip_ns = 100'000;
    link.rate_bit_per_s = 1e10;
  }
}

/// A folder in which p.json holds a profile, for all tests.
const Shell& profiled() {
  static const Shell shell;
  static const auto outcome = shell.run(Words("profile --out p.json --rounds 5") + kModel);
  if (outcome.exit_code != 0) throw std::runtime_error("profile failed: " + outcome.errors);
  return shell;
}

/// Makes known.json, a profile with what blocks and bytes take instead of what this machine measured, so that the
/// splits that nothing beats are known; and the network far.json.
void write_known(const Shell& shell) {
  auto profile = predict::load_profile(shell.folder() / "p.json");
  for (auto& device : profile.devices) {
    for (auto& run : device.runs) run.compute_ns.assign(3, block_ns(run.begin, run.end));
  }
  make_links_known(profile);
  shell.write("known.json", nlohmann::json(profile).dump());
  shell.write("far.json", R"({"both": {"delay": "5 ms"}})");
}

/// A folder in which p.json holds a profile of kLongModel and `out` a sweep of it.
const Shell& measured_long_model() {
  static const Shell shell;
  static const bool done = [] {
    shell.run(0, Words("profile --out p.json --rounds 3") + kLongModel);
    shell.run(0, Words("sweep --data random --out out --repeat-slow 0 --repeat 1 --batches 8") + kLongModel);
    return true;
  }();
  REQUIRE(done);
  return shell;
}

/// A folder of its own with the same files, for a test that adds to them.
struct MeasuredShell : Shell {
  MeasuredShell() {
    std::filesystem::copy(measured_long_model().folder(), folder(), std::filesystem::copy_options::recursive);
  }
};

}  // namespace

TEST_CASE("profile times every run of blocks on each device, and the links between them") {
  const auto profile = predict::load_profile(profiled().folder() / "p.json");
  CHECK(profile.model.block_count() == 4);
  REQUIRE(profile.devices.size() == 2);
  CHECK(profile.devices[0].cpus != "");
  for (const auto& device : profile.devices) {
    REQUIRE(device.runs.size() == 10);
    for (const auto& run : device.runs) {
      CAPTURE(device.name, run.begin, run.end);
      CHECK(run.compute_ns.size() == 5);
      CHECK(*std::min_element(run.compute_ns.begin(), run.compute_ns.end()) >= block_ns(run.begin, run.end));
      CHECK(run.memory_bytes.has_value());
    }
  }
  REQUIRE(profile.links.size() == 2);
  CHECK(profile.links[1].from == 1);
  CHECK(profile.links[1].to == 0);
  CHECK(profile.links[0].rate_bit_per_s > 1e8);  // loopback
}

TEST_CASE("a device that has a name keeps it in its profile, with the memory that its runs need") {
  const Shell shell;
  write_devices(shell, {{"launch", "env"}, {"program", kStage}, {"cpus", "0"}});
  shell.run(0, Words("profile --out p.json --rounds 1 --on pi --on local --devices devices.json") +
                   "--model synthetic:0ms/200kB,0ms");
  const auto profile = predict::load_profile(shell.folder() / "p.json");
  CHECK(profile.devices.front().name == "pi");
  CHECK(profile.devices.front().cpus == "0");
  CHECK(profile.devices.front().runs.front().memory_bytes.value_or(0) >= 200'000);
}

TEST_CASE("what cannot be profiled is refused in a sentence") {
  std::string many = "synthetic:";
  for (int i = 0; i < predict::kMostBlocks; ++i) many += "0ms/4kB,";
  check_refused(profiled(), "profile --out no.json",
                {{"--model synthetic:0ms/4kB,0ms --batch 1 --batch 2", "--batch"},
                 {"--model synthetic:0ms/4kB,0ms --batch 1,2", "one model, at one batch"},
                 {"--model synthetic:0ms/4kB,0ms --model synthetic:0ms", "one model, at one batch"},
                 {"--model synthetic:0ms/4kB,0ms --rounds 0", "--rounds"},
                 {Words("--model") + Words(many + "0ms"), "has 1001 blocks"}});
  check_refused(profiled(), "profile --model synthetic:0ms/4kB,0ms",
                {{"", "--out"}, {"--out nowhere/p.json", "there is no folder nowhere"}});
  profiled().write("small.json", R"({"cpu_quota": 0.5})");
  check_refused(profiled(), "profile --model synthetic:0ms/4kB,0ms --rounds 1 --device-profile ./small.json",
                {{"--device-profile none --out small.json", "is what is read"}});
}

TEST_CASE("what is predicted of a synthetic model over loopback is what a sweep measures, within 1 %") {
  check_within(0.01, "", "--shaping none", 0);
}

TEST_CASE("what is predicted of a network that was not profiled is what a sweep over it measures, within 5 %") {
  check_within(0.05, "--network ./slow.json --shaping emulated", "--network ./slow.json --shaping emulated", 6e6);
}

TEST_CASE("predict prints the frontier as a table, CSV or JSON, each of which says that it is predicted") {
  const auto& shell = profiled();
  write_known(shell);
  const auto table = shell.run(0, "predict known.json --network ./far.json").output;
  check_contains(table, {"PREDICTED, not measured", "all local", "0-1 on stage 0 | 2-3 on stage 1"});
  const auto csv = shell.run(0, "predict known.json --network ./far.json --format csv").output;
  CHECK(csv.starts_with("kind,model,"));
  check_contains(csv, {",latency_p50_ns,latency_p50_ns_low,", ",throughput_image_per_s,"});  // as frontier has them
  CHECK(contains(csv, "\npredicted,"));
  const auto fastest = shell.as_json("predict known.json --network ./far.json --objective throughput");
  REQUIRE(fastest.at("frontier").size() == 1);
  CHECK(fastest.at("frontier")[0].at("split_points") == std::vector<int>{2});
  CHECK(contains(shell.run(0, "predict known.json --network ./far.json --objective latency_p50").output, "all local"));
  const auto chosen = shell.as_json("predict known.json known.json --any-order --stages 3 --network unshaped");
  CHECK(chosen.at("devices").size() == 4);
  CHECK(chosen.at("frontier").back().at("stages").size() == 3);
  CHECK(contains(shell.run(1, "predict known.json --memory 1").output, "No split is possible"));
}

TEST_CASE("predict writes a page, which says that it is predicted", "[needs:charts]") {
  const auto& shell = profiled();
  check_refused(
      shell, "predict p.json --format page",
      {{"", "name the file of the page with --out"}, {"--check out --out p.html", "--check has no page of its own"}});
  write_page(shell, "predict p.json --network wifi --format page --out p.html");
  const auto page = shell.text("p.html");
  check_contains(page, {"\"predicted\":true", "PREDICTED, not measured"});
  CHECK(shell.run(1, "predict p.json --memory 1 --format page --out none.html").output.empty());
  CHECK_FALSE(shell.has("none.html"));
}

TEST_CASE("predict says what images wait that arrive on their own, keeps bounds, and can have memory as an objective") {
  const auto& shell = profiled();
  const auto loaded = shell.as_json("predict p.json --rate 1");
  CHECK(loaded.at("rate_image_per_s") == 1);
  for (const auto& split : loaded.at("frontier")) {
    CHECK(split.at("server_latency_mean_ns").at("value") > split.at("latency_ns").at("value"));
    CHECK(split.at("stages")[0].contains("memory_bytes"));
  }
  CHECK(contains(shell.run(0, "predict p.json --rate 1e6").output, "not kept up with"));
  write_known(shell);  // batches in flight bound the cut after block 1
  const auto bound = shell.run(0, "predict known.json --network ./far.json --rate 1 --depth 2").output;
  CHECK(contains(bound, "unknown (bound by the depth)"));
  CHECK_FALSE(contains(bound, "not kept up with"));
  CHECK(contains(shell.run(1, "predict p.json --where 'latency_p50 < 1us'").output, "none keeps what is asked"));
  const auto two = shell.as_json("predict p.json").at("frontier").size();
  const auto three = shell.as_json("predict p.json --objective memory");
  CHECK(three.at("frontier").size() >= two);
}

TEST_CASE("what a few trials add to a profile is fitted, and stands beside what was measured in explain and report") {
  const MeasuredShell shell;
  const auto fitted = shell.as_json("predict p.json --fit out");
  CHECK(fitted.at("fitted").at("splits") == 5);
  CHECK(fitted.at("fitted").at("idle_pace") > 0.5);
  const auto explained = shell.as_json("explain out --profile p.json");
  REQUIRE(explained.at("predictions").size() == 1);
  CHECK(explained.at("predictions")[0].at("splits").size() == 5);
  CHECK(contains(shell.run(0, "explain out --profile p.json").output, "Predicted by the profile of"));
  CHECK_FALSE(contains(shell.run(0, "explain out").output, "Predicted by"));
  std::filesystem::copy_file(shell.folder() / "p.json", shell.folder() / "out/profile.json");
  CHECK(contains(shell.run(0, "explain out").output, "Predicted by the profile of"));
  check_refused(shell, "explain out",
                {{"--out out/profile.json", "is what is read"}, {"--profile p.json --out p.json", "is what is read"}});
}

TEST_CASE("a report has predictions beside what was measured, once a profile is there", "[needs:charts]") {
  const MeasuredShell shell;
  write_page(shell, "report out --out plain.html");
  CHECK_FALSE(contains(shell.text("plain.html"), "\"predicted\":{"));
  shell.run(0, "report out --profile p.json --out page.html");
  check_contains(shell.text("page.html"), {"\"predicted\":{"});
}

TEST_CASE("a profile holds against the sweep of its devices, and one of slower devices is found to be wrong") {
  const MeasuredShell shell;
  // Nearly twice is far more than what others on this machine cost.
  const auto holds = shell.run(0, "predict p.json --check out --within 90%").output;
  check_contains(holds, {"latency predicted", "the profiles hold within 90 %"});
  auto profile = predict::load_profile(shell.folder() / "p.json");
  for (auto& device : profile.devices) {
    for (auto& run : device.runs) {
      for (auto& ns : run.compute_ns) ns *= 10;
    }
  }
  shell.write("wrong.json", nlohmann::json(profile).dump());
  check_contains(shell.run(1, "predict wrong.json --check out --within 90%").output, {"the profiles do not hold"});
  const auto json = shell.as_json("predict wrong.json --check out", 1);
  CHECK(json.at("holds") == false);
  CHECK(json.at("splits").size() == 5);
  CHECK(contains(shell.run(1, "predict wrong.json --check out --format csv").output, "split,repetitions,"));
  check_refused(shell, "predict p.json --check",
                {{"out --depth 3", "none of the 5 trials"},
                 {"out --network wifi", "over wifi"},
                 {"none", "none"},
                 {"out --any-order --network unshaped", "leave --any-order out"},
                 {"out --objective throughput", "leave --objective out"},
                 {"out --within lots", "lots"}});
  check_refused(shell, "predict p.json", {{"--within 5%", "--check"}});
}

TEST_CASE(
    "a profile with codecs predicts over partitions and codecs, and over a slow link a codec moves the best cut") {
  const Shell shell;
  // The cut into equal halves is the large one, which the link is too slow for.
  const Words model = "--model synthetic:10ms/20kB,15ms/250kB,25ms";
  shell.write("slow.json", R"({"both": {"delay": "1 ms", "rate": "50 Mbit/s"}})");
  shell.run(0, Words("profile --out p.json --rounds 3 --codec none,zstd,uniform8") + model);
  auto profile = predict::load_profile(shell.folder() / "p.json");
  CHECK(profile.codecs() == std::vector<std::string>{"none", "uniform8", "zstd"});
  // What blocks and codecs take instead of what this machine measured.
  constexpr std::int64_t kBlocks[] = {10'000'000, 15'000'000, 25'000'000};
  for (auto& device : profile.devices) {
    CHECK(device.codecs.size() == 8);
    CHECK(device.codec("uniform8", 2)->payload_bytes == 62'508);
    for (auto& run : device.runs) {
      run.compute_ns.assign(3, std::accumulate(kBlocks + run.begin, kBlocks + run.end, std::int64_t{0}));
    }
    for (auto& one : device.codecs) {
      CHECK(one.encode_ns.size() == 3);
      CHECK(one.decode_ns.size() == 3);
      one.encode_ns = one.decode_ns = {500'000, 500'000, 500'000};
    }
  }
  make_links_known(profile);
  shell.write("known.json", nlohmann::json(profile).dump());
  const auto best = [&](const std::string& options) {
    const auto found = shell.as_json("predict known.json --network ./slow.json --objective throughput" + options);
    const auto& split = found.at("frontier").at(0);
    return std::pair(split.at("split_points").get<std::vector<int>>(), split.at("codec").get<std::string>());
  };
  CHECK(best("") == std::pair(std::vector<int>{1}, std::string("none")));
  CHECK(best(" --codec none,uniform8") == std::pair(std::vector<int>{2}, std::string("uniform8")));
  check_contains(shell.run(0, "predict known.json --network ./slow.json --codec none,uniform8").output,
                 {"codec none or uniform8", "2 uniform8", "with any of these codecs"});
  CHECK(contains(shell.run(0, "predict known.json --codec uniform8 --format csv").output, ",uniform8"));
  check_refused(shell, "predict known.json",
                {{"--codec lz4", "paretopipe profile --codec lz4"},
                 {"--codec jpeg", "--codec-input"},
                 {"--codec none/uniform8", "only one codec for all cuts"},
                 {"--codec nonsense", "nonsense"},
                 {"--codec none,none", "twice"},
                 {"--where 'codec = uniform8'", "--codec instead"}});
  check_refused(shell, Words("profile --out no.json") + model,
                {{"--stages 3 --codec none/uniform8", "each codec alone"}, {"--codec uint8", "--codec-input"}});
}

TEST_CASE("what is predicted of a codec is held against a sweep with it, and --partitions best chooses codecs, too") {
  const Shell shell;
  const auto sweep = Words("sweep --data random --repeat-slow 0 --repeat 1 --batches 8 --warmup 1 --shaping none") +
                     "--codec none,uniform8 --out out" + kLongModel;
  check_contains(shell.run(0, sweep + "--partitions best").output, {"of 9 splits measured"});
  const auto profile = predict::load_profile(shell.folder() / "out/profile.json");
  CHECK(profile.codecs() == std::vector<std::string>{"none", "uniform8"});
  shell.run(0, sweep + "--resume");
  CHECK(shell.records().size() == 9);
  // How well it holds depends on what else this machine did.
  const auto checked = shell.run("predict out/profile.json --codec none,uniform8 --check out --format csv");
  CHECK(checked.exit_code <= 1);
  CHECK(contains(checked.output, ",uniform8"));
  CHECK(shell.as_json("explain out").at("predictions")[0].at("splits").size() == 9);
}

TEST_CASE("what cannot be predicted is refused in a sentence") {
  profiled().write("lossy.json", R"({"both": {"loss": "1 %"}})");
  profiled().write("damaged.json", R"({"schema": 1})");
  check_refused(
      profiled(), "predict",
      {{"", "profiles"},
       {"none.json", "none.json"},
       {"damaged.json", "profile is damaged"},
       {"p.json --stages 5", "hold 2 devices, and the pipeline has 5 stages"},
       {"p.json p.json", "nothing says how fast the way"},
       {"p.json --any-order", "--network"},
       {"p.json --network ./lossy.json", "has to be measured"},
       {"p.json --objective payload", "only latency_p50, throughput and memory"},
       {"p.json --where 'payload < 1MiB'", "bounds of latency_p50 and throughput"},
       {"p.json --where 'throughput < 5'", "asks for what is worse"},
       {"p.json --fit none", "none"},
       {"p.json --rate 0", "--rate"},
       {"p.json --memory lots", "lots"},
       {"p.json --out p.json", "p.json"},
       {"p.json p.json p.json p.json p.json p.json p.json --any-order --stages 2 --network unshaped", "NP-hard"}});
}
