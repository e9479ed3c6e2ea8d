// usage: browser-pages FOLDER
// Writes the pages that page_test.mjs looks at, from records made up for tests.
// Exit status: 0 written; 77 this was built without the charting library, so that CTest skips the test.
#include <paretopipe/core/error.hpp>
#include <paretopipe/render/page/page.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <support/files.hpp>

#include "../unit/calibration/perfect.hpp"
#include "../unit/page/prediction.hpp"
#include "../unit/record/records.hpp"
#include "../unit/render/sweep.hpp"

namespace {

using namespace paretopipe;
using Records = std::vector<record::TrialRecord>;

/// Shows in the page's title, table, hover cards and lists; markup of it would call `hacked`.
constexpr const char* kHostile = "</script><img src=x onerror=hacked()><b>bold</b>&amp;\xe2\x80\xa8{b|x}";

void put_over(experiment::NetworkProfile network, Records& records) {
  for (auto& record : records) {
    record.trial.network = network;
    record.trial.shaping = experiment::Shaping::emulated;
    auto& evidence = record.network.emplace();
    evidence.read_back = network;
    evidence.round_trip_ns = 40'500'000;
    evidence.forward_bit_per_s = evidence.backward_bit_per_s = 4.9e6;
    experiment::LinkProbe probe;
    probe.before_trial_ns = 2'000'000'000 * (1 + record.trial.repetition);
    evidence.probes = {probe};
  }
}

/// Two batches, each over two networks.
Records networks() {
  auto records = testing::sweep();
  auto slow = records;
  experiment::NetworkProfile network{"slow", {}, {}};
  network.forward.delay = std::chrono::milliseconds(20);
  put_over(network, slow);
  records.insert(records.end(), slow.begin(), slow.end());
  return records;
}

/// The same trials as they went in a slow window: none of them counts.
Records in_slow_window(const Records& trials, const std::string& reason) {
  auto records = trials;
  for (auto& record : records) {
    record.status = record::Status::invalid;
    record.failure = record::Failure{"conditions", std::nullopt, reason};
  }
  return records;
}

/// Outliers with and without a cause, and a warm-up that became longer.
Records disturbed() {
  auto records = networks();
  records[4].outliers = record::Outliers{{7}, {5, 6, 7, 9}};
  records[4].stages[1].usage.major_page_faults = 12;
  records[5].outliers = record::Outliers{{3}, {}};
  records[8].offline->warmup += 2;
  return records;
}

calibration::DataSheet data_sheet(const std::string& word) {
  const auto grid = calibration::full_grid();
  auto records = testing::measured_grid(grid, {.compute_ns = 1700, .transfer_ns = 243'000});
  records[3].stages[1].usage.major_page_faults = 12;
  auto sheet = testing::sheet_of(grid, records);
  sheet.conditions.host = testing::a_stage(0).host;
  sheet.conditions.host.hostname = sheet.provenance.version = word;
  sheet.conditions.findings = {{"load", host::Level::warning, word, "other programs take time", ""}};
  return sheet;
}

Records hostile() {
  auto records = networks();
  for (auto& record : records) {
    record.trial.model = kHostile;
    record.trial.data = kHostile;
    record.provenance.command_line = {kHostile};
    record.provenance.git_state = kHostile;
    for (auto& stage : record.stages) stage = testing::a_stage(0);
    for (auto& stage : record.stages) stage.host.cpu_model = stage.cpus = kHostile;
    if (record.trial.network.shaped()) record.trial.network.name = kHostile;
    if (record.failure) record.failure->reason = kHostile;
  }
  return records;
}

Records many() {
  Records records;
  for (int split = 0; split <= 500; ++split) {
    auto trial = testing::make_trial(split);
    trial.block_count = 500;
    const auto remote = (500 - split) * 40'000;
    records.push_back(
        testing::make_record(trial, {split * 50'000, remote / 7 + 90'000, remote, 20'000}, 4 * (remote + 1)));
  }
  return records;
}

/// Batches whose micro-batches are no full cross product, each in two ways to compute, which no filter tells apart.
Records uneven() {
  Records records;
  for (const auto& [batch, micro_batch] : {std::pair{4, 2}, std::pair{8, 2}, std::pair{8, 0}}) {
    for (const auto compute : {experiment::Compute::eager, experiment::Compute::optimized}) {
      for (auto record : testing::sweep()) {
        record.trial.batch = batch;
        record.trial.micro_batch = micro_batch;
        record.trial.compute.compute = compute;
        records.push_back(std::move(record));
      }
    }
  }
  return records;
}

Records trained() {
  Records records;
  const std::vector<record::StepParts> stages{{.forward_ns = 3e5, .backward_ns = 4e5, .transfer_ns = 3e5},
                                              {.forward_ns = 2e5, .backward_ns = 3e5, .waiting_ns = 5e5}};
  for (const int split : {3, 7}) {
    auto record = testing::ok_record();
    record.trial = testing::make_trial(split);
    record.trial.phases = experiment::Phases::training;
    record.trial.training.emplace();
    record.fidelity.reset();
    record.summary = record::Summary{};
    record.summary->training = {
        {4, 1e6, 2e6, 3e6 + split, 4e6, 5e6, 6e6, 7e6}, 0, 8.0 + split, stages, 0.25, 0.125, 9, 0.5, {}};
    records.push_back(std::move(record));
  }
  return records;
}

void write(const std::filesystem::path& folder, const std::string& name, const Records& records,
           const page::Supplement& supplement = {}) {
  support::write_file(folder / (name + ".html"), page::render_page(page::make_page_data(records, supplement)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return static_cast<int>(ExitCode::usage);
  try {
    const std::filesystem::path folder = argv[1];
    write(folder, "networks", networks());
    const auto slow = in_slow_window({networks()[5], networks()[8]}, "other processes used 31 % of stage 0's CPUs (0)");
    write(folder, "disturbed", disturbed(), {.replaced = slow, .data_sheet = data_sheet("bench")});
    const auto hostile_slow = in_slow_window(hostile(), kHostile);
    write(folder, "hostile", hostile(), {.replaced = hostile_slow, .data_sheet = data_sheet(kHostile)});
    write(folder, "many", many());
    write(folder, "load", testing::under_load());
    write(folder, "single", {testing::ok_record()});
    write(folder, "uneven", uneven());
    write(folder, "trained", trained());
    write(folder, "failed", {testing::failed_record()});
    support::write_file(folder / "predicted.html",
                        page::render_page(page::make_page_data(testing::a_prediction(), testing::a_profile())));
  } catch (const EnvironmentError& error) {
    fmt::print(stderr, "SKIPPED: {}\n", error.what());
    return 77;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
