// Stages on another "host": started by a launcher, with a cache folder of its own and without this one's files.
#include <paretopipe/core/hash.hpp>
#include <paretopipe/run/file_copies.hpp>
#include <paretopipe/stage/file_cache.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <csignal>
#include <numeric>

#include <support/files.hpp>
#include <support/scoped_variable.hpp>

#include "executor_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kWeights = "weights that nobody reads";
constexpr std::string_view kData = "data that decide the inputs";
constexpr std::string_view kLabels = "0 1 2 3 4 5 6 7";

/// This machine with an archive, weights, data and labels, and a host "pi" that sees none of them.
class TwoHosts {
 public:
  TwoHosts() {
    fs::create_directory(own());
    for (const auto& [name, text] : {std::pair<const char*, std::string_view>{"net.pt", kModel},
                                     {"weights", kWeights},
                                     {"data", kData},
                                     {"labels", kLabels}}) {
      support::write_file(own() / name, text);
    }
    use(cache());
  }

  fs::path own() const { return folder_.path() / "own"; }
  fs::path cache() const { return folder_.path() / "pi"; }
  fs::path copy_of(std::string_view text) const { return cache() / "paretopipe" / "files" / sha256_of_text(text); }

  /// Makes `cache` the cache folder of the host.
  void use(const fs::path& cache) {
    options_.devices["pi"] =
        device_over("pi", {"env", "XDG_CACHE_HOME=" + cache.string(), "FAKE_STAGE_HIDES=" + own().string()});
  }

  /// The host is gone while the file is there.
  void vanish_with(const fs::path& file) {
    launch_through({"sh", "-c", "[ -e '" + file.string() + "' ] || exec \"$@\"", "sh"});
  }

  /// Puts a pseudo-terminal between, as srun and kubectl may.
  void reach_through_terminal() { launch_through({"sh", "-c", "exec script -qefc \"$*\" /dev/null", "sh"}); }

  run::ExecutorOptions options() {
    options_.archives[sha256_of_text(kModel)] = own() / "net.pt";
    options_.weights = (own() / "weights").string();
    options_.data.request = "tensor:" + (own() / "data").string();
    options_.data.labels = (own() / "labels").string();
    options_.watching.notice = [this](const std::string& sentence) { notices.push_back(sentence); };
    return options_;
  }

  std::vector<std::string> notices;

 private:
  void launch_through(const std::vector<std::string>& words) {
    auto& launch = options_.devices["pi"].launch;
    launch.insert(launch.begin(), words.begin(), words.end());
  }

  support::TemporaryFolder folder_;
  support::ScopedVariable hides_{"FAKE_STAGE_HIDES", ""};
  run::ExecutorOptions options_ = options_on({});
};

experiment::Trial of_archive(experiment::Trial trial) {
  trial.model = "net.pt";
  trial.archive = experiment::Archive{sha256_of_text(kModel), {3, 32, 32}, "unit"};
  return trial;
}

experiment::Trial with_data(experiment::Trial trial) {
  trial.data = "tensor:data";
  trial.data_identity = {sha256_of_text(kData), sha256_of_text(kLabels)};
  return trial;
}

void require_right(const record::TrialRecord& record) {
  require_ok(record);
  REQUIRE(record.fidelity->max_abs_difference == 0);
}

}  // namespace

TEST_CASE("archives and weights are sent to a host once, verified, and found there by the next sweep") {
  TwoHosts hosts;
  auto trial = on({"local", "pi"}, of_archive(trial_at({1})));
  trial.weights_sha256 = sha256_of_text(kWeights);
  {
    run::PipelineExecutor executor(hosts.options());
    require_right(executor.run(trial));
    CHECK(support::read_file(hosts.copy_of(kModel)) == kModel);
    CHECK(support::read_file(hosts.copy_of(kWeights)) == kWeights);
    REQUIRE(hosts.notices.size() == 2);
    check_contains(hosts.notices[0], {"net.pt", "stage 1 on pi"});
    trial.split_points = {0};  // other blocks are loaded
    require_right(executor.run(trial));
  }
  run::PipelineExecutor next_sweep(hosts.options());
  require_right(next_sweep.run(trial));
  CHECK(hosts.notices.size() == 2);
}

TEST_CASE("two stages of one host share its copy, and one without blocks needs none") {
  TwoHosts hosts;
  run::PipelineExecutor executor(hosts.options());
  require_right(executor.run(on({"local", "pi"}, of_archive(trial_at({3})))));
  CHECK(hosts.notices.empty());
  require_right(executor.run(on({"local", "pi", "pi"}, of_archive(trial_at({1, 2})))));
  CHECK(hosts.notices.size() == 1);
}

TEST_CASE("a source on another host has the inputs and labels of data that are here, bit for bit") {
  TwoHosts hosts;
  run::PipelineExecutor executor(hosts.options());
  const int micro_batch = GENERATE(4, 2);
  const auto trial = of_archive(with_data(trial_in_micro_batches({1}, 4, micro_batch)));
  const auto here = executor.run(trial);
  require_right(here);
  const auto result = executor.last_result(trial).bytes;
  for (const auto& devices : std::vector<std::vector<std::string>>{{"pi", "local"}, {"pi", "pi"}, {"local", "pi"}}) {
    CAPTURE(devices);
    const auto placed = on(devices, trial);
    const auto there = executor.run(placed);
    require_right(there);
    CHECK(executor.last_result(placed).bytes == result);
    CHECK(there.fidelity->accuracy == here.fidelity->accuracy);
    CHECK(there.fidelity->accuracy->images == 8);
  }
  auto random = trial_in_micro_batches({1}, 4, micro_batch);
  require_right(executor.run(random));
  CHECK(executor.last_result(random).bytes != result);
}

TEST_CASE("a launcher's pseudo-terminal changes no byte of what a stage on another host gets") {
  TwoHosts hosts;
  hosts.reach_through_terminal();
  run::PipelineExecutor executor(hosts.options());
  const auto trial = on({"pi", "local"}, of_archive(with_data(trial_in_micro_batches({1}, 4, 2))));
  require_right(executor.run(trial));
}

TEST_CASE(
    "while a host is gone its trials fail by name, what does not need it goes on, and it is started when it is back") {
  TwoHosts hosts;
  const support::TemporaryFolder folder;
  const auto gone = folder.path() / "gone";
  hosts.vanish_with(gone);
  run::PipelineExecutor executor(hosts.options());
  const auto cut = on({"local", "pi"}, of_archive(trial_at({1})));
  const auto local = on({"local", "pi"}, of_archive(trial_at({3})));
  executor.expect({cut, local});
  support::write_file(gone, "");
  const auto failure = failure_of(executor.run(cut));
  CHECK(failure.phase == "launch");
  CHECK(contains(failure.reason, "stage 1 on pi cannot be started"));
  require_right(executor.run(local));
  require_right(executor.run(local));
  fs::remove(gone);
  require_right(executor.run(cut));
  require_right(executor.run(local));
}

namespace {

/// A port of this machine that nobody listens at, below those that the kernel gives to connections of others.
std::uint16_t free_port() {
  return wire::Listener("127.0.0.1", {23'000, 29'999}).port();
}

void kill_stages() {
  const auto stages = support::own_children();
  const auto watched = support::watch(stages);
  for (const auto stage : stages) ::kill(stage, SIGKILL);
  REQUIRE(support::all_ended(watched));
}

}  // namespace

TEST_CASE(
    "what keeps a host that took part before from its links fails the trials that need them, and they go on once it "
    "has passed") {
  const auto port = free_port();
  auto pi = device_over("pi");
  pi.first_port = pi.last_port = port;
  run::PipelineExecutor executor(options_on({pi}));
  const auto cut = on({"local", "pi"}, trial_at({1})), local = on({"local", "pi"}, trial_at({3}));
  const auto dealt = on({"local", "pi"}, dealt_to(2));
  require_right(executor.run(cut));
  const auto check_refused = [&](const experiment::Trial& trial) {
    const auto failure = failure_of(executor.run(trial));
    CHECK(failure.phase == "launch");
    check_contains(failure.reason, {"stage 1 on pi cannot listen", std::to_string(port)});
  };
  {
    const wire::Listener somebody("127.0.0.1", {port, port});
    check_refused(dealt);  // whose stages are joined to the star, too
    check_refused(cut);    // whose stages are started again
    require_right(executor.run(local));
  }
  require_right(executor.run(cut));
  kill_stages();
  {
    const wire::Listener somebody("127.0.0.1", {port, port});
    require_right(executor.run(local));
  }
  require_right(executor.run(dealt));
}

TEST_CASE("what keeps a host from its links before it has taken part in any trial is refused") {
  auto pi = device_over("pi");
  const wire::Listener somebody("127.0.0.1", {});
  pi.first_port = pi.last_port = somebody.port();
  run::PipelineExecutor executor(options_on({pi}));
  check_throws<Error>(
      [&] {
        executor.run(on({"local", "pi"}, trial_at({1})));
      },
      {"stage 1 on pi cannot listen", "\"ports\" are in the devices file"});
}

TEST_CASE("a first stage on another host may have a GPU and threads that this machine lacks") {
  const support::ScopedVariable here("FAKE_STAGE_FAULT", "small machine");
  const std::vector<std::string> launcher{"env", "-u", "FAKE_STAGE_FAULT"};
  run::PipelineExecutor executor(options_on({device_over("gpu1", launcher), device_over("gpu2", launcher)}));
  auto trial = on({"gpu1", "gpu2"}, trial_at({1}));
  trial.compute_devices = {"cuda:0", "cuda:0"};
  trial.stage_threads = {100'000, 1};
  CHECK(executor.describe(trial).block_count() == kBlocks);
  require_right(executor.run(trial));
}

TEST_CASE("what the process for unsplit models refuses is told apart from what a first stage on another host does") {
  const FaultOnce fault("throw@0-3@1");  // in processes of this machine
  run::PipelineExecutor executor(options_on({device_over("box", {"env", "-u", "FAKE_STAGE_FAULT"})}));
  check_throws<Error>(
      [&] {
        executor.run(on({"box", "local"}, trial_at({1})));
      },
      {"the process that computes unsplit models on this machine: ", "the block broke on purpose"});
}

TEST_CASE("stages on another host train on the inputs and labels that are here, to the bit") {
  TwoHosts hosts;
  run::PipelineExecutor executor(hosts.options());
  const auto trial = to_train(with_data(trial_in_micro_batches({1}, 4, 2)));
  const auto here = executor.run(trial);
  require_ok(here);
  for (const auto& devices : std::vector<std::vector<std::string>>{{"pi", "local"}, {"pi", "pi"}, {"local", "pi"}}) {
    CAPTURE(devices);
    const auto there = executor.run(on(devices, trial));
    require_ok(there);
    CHECK(there.training->verified_steps == 2);
    CHECK(there.training->losses == here.training->losses);
  }
}

namespace {

/// Their losses.
std::vector<double> two_epochs(const run::ExecutorOptions& options, const experiment::Trial& trial) {
  std::vector<double> losses;
  run::PipelineExecutor executor(options);
  const auto failure = executor.train_epochs(trial, 2, {.done = [&](const run::Epoch& epoch, const auto&) {
                                               losses.push_back(epoch.loss);
                                               return true;
                                             }});
  INFO((failure ? failure->reason : std::string()));
  REQUIRE_FALSE(failure);
  return losses;
}

}  // namespace

TEST_CASE("epochs on another host learn from copies of the data and labels that are here, which it keeps") {
  TwoHosts hosts;
  const auto trial = to_train(with_data(trial_in_micro_batches({1}, 4, 2)));
  const auto here = two_epochs(hosts.options(), trial);
  CHECK(here.size() == 2);
  for (const auto& devices : std::vector<std::vector<std::string>>{{"pi", "local"}, {"local", "pi"}, {"pi", "pi"}}) {
    CAPTURE(devices);
    CHECK(two_epochs(hosts.options(), on(devices, trial)) == here);
  }
  CHECK(support::read_file(hosts.copy_of(kData)) == kData);
  REQUIRE(hosts.notices.size() == 2);  // of three trainings, the first needs both files
  CHECK(contains(hosts.notices[0], "copies 1 file of " + hosts.own().string()));
  CHECK(contains(hosts.notices[1], "labels"));
}

TEST_CASE("replicas on this and another host train on the same data as two that are here, to the bit") {
  TwoHosts hosts;
  run::PipelineExecutor executor(hosts.options());
  auto trial = to_train(with_data(dealt_to(2)));
  trial.batch = 4;
  trial.micro_batch = 2;
  const auto here = executor.run(trial);
  require_ok(here);
  for (const auto& devices : std::vector<std::vector<std::string>>{{"local", "pi"}, {"pi", "local"}}) {
    CAPTURE(devices);
    const auto there = executor.run(on(devices, trial));
    require_ok(there);
    CHECK(there.training->verified_steps == 2);
    CHECK(there.training->losses == here.training->losses);
    CHECK(there.summary->training->stages.front().all_reduce_ns > 0);
  }
}

TEST_CASE("replicas on devices that have no address or no ports for them are refused with what to write") {
  TwoHosts hosts;
  auto options = hosts.options();
  auto trial = to_train(dealt_to(3));
  trial.batch = 3;
  trial.micro_batch = 1;
  auto& third = options.devices["third"] = options.devices["pi"];
  third.name = "third";
  third.first_port = 40'000;
  third.last_port = 40'100;
  check_throws<UsageError>(
      [&] {
        run::PipelineExecutor(options).run(on({"local", "pi", "third"}, trial));
      },
      {"cannot keep to the ports", "third"});
}

TEST_CASE("a host that cannot keep a file is named, with its folder and the reason") {
  TwoHosts hosts;
  hosts.use(hosts.own() / "net.pt");
  run::PipelineExecutor executor(hosts.options());
  check_throws<Error>(
      [&] {
        executor.run(on({"local", "pi"}, of_archive(trial_at({1}))));
      },
      {"stage 1 on pi cannot take", "net.pt", "keep a file in", "paretopipe/files", "Not a directory"});
}

TEST_CASE("a file of many pieces arrives as it is, and one that is not what it should be leaves nothing") {
  const support::TemporaryFolder folder;
  const support::ScopedVariable cache("XDG_CACHE_HOME", folder.path().string());
  std::string text(static_cast<std::size_t>(2 * stage::kChunkBytes + 13), '\0');
  std::iota(text.begin(), text.end(), '\0');
  const auto file = folder.path() / "file";
  support::write_file(file, text);
  run::StageClient stage(0, {kFakeStage});
  const auto limits = [] { return run::WaitLimits{Clock::now() + std::chrono::seconds(60)}; };
  run::FileCopies copies(limits, {});
  const auto path = copies.place(stage, sha256_of_text(text), file);
  CHECK(fs::path(path).parent_path() == folder.path() / "paretopipe" / "files");
  CHECK(support::read_file(path) == text);
  check_throws<run::StageError>([&] { copies.place(stage, sha256_of_text("other"), file); },
                                {"stage 0 cannot take", "changed while it was sent"});
  check_throws<UsageError>([&] { copies.place(stage, sha256_of_text("other"), folder.path() / "none"); },
                           {"none: No such file"});
  CHECK(copies.place(stage, sha256_of_text(text), "/nowhere/file") == path);
  support::write_file(folder.path() / "empty", "");
  check_throws<UsageError>([&] { copies.place(stage, sha256_of_text(""), folder.path() / "empty"); },
                           {"empty: it is empty"});
  CHECK(std::distance(fs::directory_iterator(fs::path(path).parent_path()), {}) == 1);
}

TEST_CASE("files of a folder arrive together under their names, and only those that are missing are sent") {
  const support::TemporaryFolder folder;
  const support::ScopedVariable cache("XDG_CACHE_HOME", folder.path().string());
  const auto own = folder.path() / "own";
  fs::create_directory(own);
  for (const auto& [name, text] : {std::pair{"b.png", "two"}, std::pair{"a.png", "one"}, std::pair{"c d.png", "two"}})
    support::write_file(own / name, text);
  run::StageClient stage(0, {kFakeStage});
  std::vector<std::string> notices;
  run::FileCopies copies([] { return run::WaitLimits{Clock::now() + std::chrono::seconds(60)}; },
                         [&](const std::string& sentence) { notices.push_back(sentence); });
  const fs::path there = copies.place_together(stage, {own / "a.png", own / "b.png"});
  CHECK(support::read_file(there / "a.png") == "one");
  CHECK(support::read_file(there / "b.png") == "two");
  CHECK(copies.place_together(stage, {own / "a.png", own / "b.png"}) == there);
  CHECK(notices.size() == 1);
  CHECK(contains(notices.front(), "copies 2 files of " + own.string()));
  const fs::path more = copies.place_together(stage, {own / "a.png", own / "b.png", own / "c d.png"});
  CHECK(more != there);
  CHECK(support::read_file(more / "c d.png") == "two");
  CHECK(notices.size() == 1);
  const auto strange = own / "\xff.png";
  support::write_file(strange, "three");
  check_throws<UsageError>([&] { copies.place_together(stage, {strange}); }, {"not valid UTF-8", "rename"});
}
