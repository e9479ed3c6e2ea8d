// The baseline data-parallel beside the splits, as from a shell, with a process for every device.
#include <stdexcept>

#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

/// One split of three blocks beside the baselines, each once.
Shell::Words sweep_of_stages(int stages, const std::string& batches = "8", const std::string& depth = "6") {
  return sweep_of("synthetic:0ms/4kB,1ms/64kB,0ms") +
         Shell::Words{"--batches", batches, "--warmup", "1", "--repeat", "1", "--depth", depth} +
         Shell::Words{"--stages", std::to_string(stages), "--partitions", stages == 2 ? "1" : "1,2"} +
         Shell::Words{"--baseline", "single", "--baseline", "data-parallel"};
}

record::TrialRecord baseline_of(const Shell& shell) {
  for (const auto& record : shell.records()) {
    if (record.trial.data_parallel > 0) return record;
  }
  throw std::out_of_range("the baseline was not measured");
}

/// A seed by which the first repetition measures the split before the baseline.
Shell::Words with_the_split_first(const Shell& shell, const Shell::Words& sweep) {
  for (int seed = 1; seed < 100; ++seed) {
    const Shell::Words words{"--seed", std::to_string(seed)};
    const auto plan = shell.run(sweep + words + Shell::Words{"--repeat", "1", "--dry-run"}).output;
    if (plan.find(" split ") < plan.find(" data-parallel ")) return words;
  }
  throw std::runtime_error("no seed has that order");
}

/// Every device computed its share, and every batch's way is there.
void require_dealt(const record::TrialRecord& record, int devices) {
  INFO(record.trial.label());
  REQUIRE(record.status == record::Status::ok);
  CHECK(record.trial.data_parallel == devices);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK(record.fidelity->batches_compared == 2 * 9);
  REQUIRE(record.stages.size() == static_cast<std::size_t>(devices));
  REQUIRE(record.summary->stages.size() == record.stages.size());
  for (const auto& device : record.summary->stages) CHECK(device.utilisation > 0);
  CHECK(record.summary->links.size() == 2 * (record.stages.size() - 1));
  CHECK(record.offline->devices == devices);
  CHECK(record.offline->results.completed.size() == 9);
  for (std::size_t batch = 0; batch < 9; ++batch) {
    const bool crosses = batch % static_cast<std::size_t>(devices) != 0;
    const auto& device = record.offline->stages.at(1);
    CHECK((device.receive_end[batch] > record.offline->stages.at(0).ready[batch]) == crosses);
    CHECK(record.offline->results.completed[batch] >= device.compute_end[batch]);
  }
}

}  // namespace

TEST_CASE("the whole model is measured on every device beside the splits, in one run and one table") {
  const int stages = GENERATE(2, 3);
  const Shell shell;
  const auto sweep = shell.run(sweep_of_stages(stages));
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  CHECK(shell.records().size() == 3);
  require_dealt(baseline_of(shell), stages);
  const auto frontier = shell.run({"frontier", "out", "--format", "markdown"});
  CHECK(frontier.exit_code == 0);
  CHECK(contains(frontier.output, "x data-parallel"));
  CHECK(contains(frontier.output, "data-parallel"));
  CHECK(contains(frontier.output, "of 2 splits"));
  const auto explained = shell.run({"explain", "out", "--split", "data-parallel"});
  CHECK(explained.exit_code == 0);
  CHECK(contains(explained.output, "What bounds it is not diagnosed"));
  CHECK(shell.run({"report", "out", "--out", "report.html"}).exit_code == 0);
  for (const auto* layout : {"trials", "stages", "batches", "jsonl"}) {
    CHECK(shell.run({"export", "out", "--layout", layout, "--out", "exported"}).exit_code == 0);
  }
  const auto trace = shell.run({"export", "out", "--layout", "trace", "--split", "data-parallel", "--out", "exported"});
  CHECK(contains(trace.errors, "data-parallel on"));
  const auto again = shell.run(sweep_of_stages(stages) + Shell::Words{"--resume"});
  CHECK(again.exit_code == 0);
  CHECK(shell.records().size() == 3);
}

TEST_CASE("over an emulated network every device but the first has the links' delay both ways") {
  const int stages = GENERATE(2, 3);
  const Shell shell;
  support::write_file(shell.folder() / "slow.json", R"({"forward": {"delay": "3 ms"}, "backward": {"delay": "5 ms"}})");
  const auto sweep =
      shell.run(sweep_of_stages(stages) + Shell::Words{"--network", "./slow.json", "--shaping", "emulated"});
  INFO(sweep.errors);
  const auto record = baseline_of(shell);
  REQUIRE(record.single_stream.has_value());  // timing may spoil a trial on a busy machine, which then says so
  REQUIRE(record.summary->links.size() == 2 * static_cast<std::size_t>(stages - 1));
  for (const auto& link : record.summary->links) CHECK(link.transfer_p50_ns >= (link.to == 0 ? 5e6 : 3e6));
  const auto& phase = *record.single_stream;
  for (std::size_t batch = 0; batch < 9; ++batch) {
    const auto latency = phase.results.completed[batch] - phase.stages[0].ready[batch];
    if (batch % static_cast<std::size_t>(stages) != 0) CHECK(latency >= 8'000'000);
  }
}

TEST_CASE("batches that are cut into micro-batches are dealt out whole") {
  const Shell shell;
  const auto sweep = shell.run(sweep_of_stages(2) + Shell::Words{"--batch", "4", "--micro-batch", "2"});
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  const auto record = baseline_of(shell);
  CHECK(record.fidelity->max_abs_difference == 0);
  CHECK(record.offline->micro_batches == 2);
  CHECK(record.offline->results.completed.size() == 18);
  CHECK(record.summary->latency->count >= 4);
}

TEST_CASE("three devices that only wait compute at the same time") {
  const Shell shell;
  REQUIRE(shell
              .run(sweep_of("synthetic:30ms") + Shell::Words{"--batches", "12", "--warmup", "1", "--repeat", "1",
                                                             "--depth", "6", "--stages", "3", "--partitions", "1,1",
                                                             "--baseline", "data-parallel"})
              .exit_code == 0);
  const auto record = baseline_of(shell);
  const auto& device = record.offline->stages.at(1);
  int together = 0;
  for (std::size_t i = 0; i < device.compute_begin.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      together += device.compute_begin[i] < device.compute_end[j] && device.compute_begin[j] < device.compute_end[i];
    }
  }
  CHECK(together > 0);
}

TEST_CASE("a device that dies is named, its trial fails, and the sweep goes on") {
  struct Death {
    std::string cut;
    std::string fault;
    int device;
  };
  // The device has computed all eighteen batches of the split before.
  const auto death = GENERATE(values<Death>({{"3,3", "kill@0-3@20", 0}, {"0,0", "kill@0-3@20", 2}}));
  CAPTURE(death.device);
  const Shell shell;
  auto words = sweep_of("synthetic:0ms/4kB,1ms/64kB,0ms") +
               Shell::Words{"--batches", "8", "--warmup",     "1",       "--depth",    "6",
                            "--stages",  "3", "--partitions", death.cut, "--baseline", "data-parallel"};
  words = words + with_the_split_first(shell, words);
  const support::FaultOnce fault(death.fault);
  const auto sweep = shell.run(words + Shell::Words{"--repeat", "2"});
  INFO(sweep.errors);
  CHECK(sweep.exit_code == 1);
  const auto records = shell.records();
  REQUIRE(records.size() == 4);
  CHECK(count(records, record::Status::ok) == 3);
  const auto failed = baseline_of(shell);  // of the first repetition
  CHECK(failed.status == record::Status::failed);
  REQUIRE(failed.failure.has_value());
  CHECK(failed.failure->stage == death.device);
  CHECK(contains(failed.failure->reason, "was killed by signal 9"));
}

TEST_CASE("what data parallelism cannot do is refused before anything is measured") {
  struct Refused {
    Shell::Words words;
    std::string named;
  };
  const auto refused = GENERATE(values<Refused>({
      {sweep_of_stages(3, "5"), "each needs two; measure 6 batches"},
      {sweep_of_stages(3) + Shell::Words{"--rate", "10"}, "has no Server phase"},
  }));
  const Shell shell;
  const auto answer = shell.run(refused.words);
  INFO(answer.errors);
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, refused.named));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "out"));
}

TEST_CASE("the plan has data parallelism, and says which of its devices would be idle") {
  const Shell shell;
  const auto dry = shell.run(sweep_of_stages(3, "8", "2") + Shell::Words{"--dry-run"});
  CHECK(dry.exit_code == 0);
  CHECK(contains(dry.output, "data-parallel on 3 devices"));
  CHECK(contains(dry.errors, "with 2 batches in flight no more than 2 of the baseline data-parallel's 3 devices"));
}
