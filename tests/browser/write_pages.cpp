// usage: browser-pages FOLDER
// Writes the pages that page_test.mjs looks at, from records made up for tests.
// Exit status: 0 written; 3 this was built without the charting library.
#include <paretopipe/core/error.hpp>
#include <paretopipe/page/page.hpp>
#include <paretopipe/page/page_data.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <support/files.hpp>

#include "../unit/record/records.hpp"
#include "../unit/report/sweep.hpp"

namespace {

using namespace paretopipe;
using Records = std::vector<record::TrialRecord>;

/// Shows in the page's title, table, hover cards and lists; markup of it would call `hacked`.
constexpr const char* kHostile = "</script><img src=x onerror=hacked()><b>bold</b>&amp;\xe2\x80\xa8{b|x}";

void put_over(config::NetworkProfile network, Records& records) {
  for (auto& record : records) {
    record.trial.network = network;
    record.trial.shaping = config::Shaping::emulated;
    record.network = config::NetworkEvidence{network, 40'500'000, 4.9e6, 4.8e6, {}};
  }
}

/// Two batches, each over two networks.
Records networks() {
  auto records = testing::sweep();
  auto slow = records;
  config::NetworkProfile network{"slow", {}, {}};
  network.forward.delay = std::chrono::milliseconds(20);
  put_over(network, slow);
  records.insert(records.end(), slow.begin(), slow.end());
  return records;
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

void write(const std::filesystem::path& folder, const std::string& name, const Records& records) {
  support::write_file(folder / (name + ".html"), page::render_page(page::make_page_data(records)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return static_cast<int>(ExitCode::usage);
  try {
    const std::filesystem::path folder = argv[1];
    write(folder, "networks", networks());
    write(folder, "hostile", hostile());
    write(folder, "many", many());
    write(folder, "single", {testing::ok_record()});
    write(folder, "failed", {testing::failed_record()});
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
