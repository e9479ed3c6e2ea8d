// `paretopipe export` on records of real runs: what was measured, in the layouts of other programs.
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>
#include <support/file_size_limit.hpp>
#include <support/trace_events.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::joined_events;
using support::nanoseconds;

namespace {

/// The only file in `folder`; none for no or several files.
std::filesystem::path only_file(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return {};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files.size() == 1 ? files.front() : std::filesystem::path{};
}

/// Of every batch of a phase: the sum of its parts, and its latency.
struct Sums {
  std::int64_t parts = 0;
  std::int64_t latency = 0;
};

std::map<std::pair<std::string, int>, Sums> sums_of(const nlohmann::json& trace) {
  std::map<std::pair<std::string, int>, Sums> sums;
  for (const auto& event : joined_events(trace)) {
    const auto kind = event.value("cat", "");
    if (!kind.starts_with("part,") && !kind.starts_with("batch,")) continue;
    auto& sum = sums[{event["args"]["phase"], event["args"]["batch"]}];
    (kind.starts_with("part,") ? sum.parts : sum.latency) += nanoseconds(event["dur"]);
  }
  return sums;
}

}  // namespace

TEST_CASE("the trace of a real trial shows its latencies and bubbles") {
  const Shell& shell = swept();
  const auto split = GENERATE(as<std::string>{}, "0", "1", "3");
  const auto made = shell.run(0, fmt::format("export out --layout trace --split {0} --repetition 2 --out t{0}", split));
  const auto file = only_file(shell.folder() / ("t" + split));
  CHECK(contains(made.errors, file.filename().string()));
  const auto trace = nlohmann::json::parse(support::read_file(file));

  const auto records = shell.records();
  const auto record = std::find_if(records.begin(), records.end(), [&](const auto& candidate) {
    return candidate.trial.id() == trace["otherData"]["trial"].template get<std::string>();
  });
  REQUIRE(record != records.end());
  CHECK(std::to_string(record->trial.split_points.front()) == split);
  CHECK(record->trial.repetition == 1);

  const auto sums = sums_of(trace);
  CHECK(sums.size() == 2 * 5);
  for (const auto& [batch, sum] : sums) CHECK(sum.parts == sum.latency);
  std::map<int, std::int64_t> idle;
  std::int64_t window = 0;
  for (const auto& event : joined_events(trace)) {
    if (event["name"] == "bubble") idle[event["pid"].get<int>() - 1] += nanoseconds(event["dur"]);
    if (event["name"] == "throughput window") window = nanoseconds(event["dur"]);
  }
  for (std::size_t stage = 0; stage < record->summary->stages.size(); ++stage) {
    CHECK(static_cast<double>(idle[static_cast<int>(stage)]) / static_cast<double>(window) ==
          Approx(record->summary->stages[stage].bubble).margin(1e-9));
  }
}

TEST_CASE("a trace of several trials is refused with their ids, and one of these chooses") {
  const auto id = swept().records().front().trial.id();
  check_refused(swept(), "export out --layout trace --out several",
                {{"--split 1", "there are 2"}, {"--trial nonsense", id}});
  export_in(SweptShell(), {"trace --trial " + id.substr(0, 8)});
}

TEST_CASE("an export does not replace the records that it reads") {
  const SweptShell shell;
  shell.run(0, "merge out --out copy/trials.jsonl");
  check_refused(shell, "export copy/trials.jsonl --layout jsonl", {{"--out copy", "is what is read"}});
  CHECK(shell.run(0, "frontier copy/trials.jsonl").exit_code == 0);
}

TEST_CASE("batches and JSON Lines of a real sweep have a row a batch and an object a trial") {
  const SweptShell shell;
  export_in(shell, {"batches", "jsonl --split 1"});
  // The heading, and a warm-up and four batches of both phases of each trial.
  CHECK(occurrences(shell.text("exported/batches.csv"), "\n") == 1 + kTrials * 2 * 5);
  std::istringstream lines(shell.text("exported/trials.jsonl"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = nlohmann::json::parse(line);
    CHECK(json.at("split") == "1");
    CHECK(json.at("latency_p50_ns").get<double>() > 0);
  }
  CHECK(count == 2);
}

TEST_CASE("a disk that fills up during an export leaves the former file, and no half of a new one") {
  const SweptShell shell;
  const auto layout = GENERATE(as<std::string>{}, "batches", "jsonl", "trace");
  const auto command = layout + " --trial " + shell.records().front().trial.id();
  export_in(shell, {command});
  const auto file = only_file(shell.folder() / "exported");
  support::write_file(file, "former");
  {
    const support::FileSizeLimit full(600);  // enough for what the program says, which goes to a file, too
    CHECK(contains(shell.run(3, "export out --out exported --layout " + command).errors, file.filename().string()));
  }
  CHECK(only_file(shell.folder() / "exported") == file);
  CHECK(support::read_file(file) == "former");
}
