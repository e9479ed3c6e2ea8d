#include <paretopipe/core/error.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/store.hpp>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

#include "records.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using record::TrialRecord;
using support::contains;
using Paths = std::vector<std::filesystem::path>;

namespace {

TrialRecord on_machine(TrialRecord record, const std::string& name) {
  for (auto& stage : record.stages) stage.host.hostname = name;
  return record;
}

TrialRecord at_split(int split, int repetition = 0) {
  auto record = ok_record(repetition);
  record.trial.split_points = {split};
  return record;
}

/// Records files a, b, … in a folder that lives as long as this.
class Files {
 public:
  Files() = default;
  explicit Files(const std::vector<std::vector<TrialRecord>>& files) {
    for (const auto& records : files) add(records);
  }

  std::filesystem::path add(const std::vector<TrialRecord>& records) {
    std::string text;
    for (const auto& record : records) text += line_of(record);
    return add(text);
  }
  std::filesystem::path add(const std::string& text) {
    paths.push_back(folder_.path() / fmt::format("{}.jsonl", static_cast<char>('a' + paths.size())));
    support::write_file(paths.back(), text);
    return paths.back();
  }
  record::Merged merged() const { return record::merge(paths, {}); }
  std::string complaint() const {
    return support::message_of<UsageError>([&] { merged(); });
  }
  std::string place(std::size_t file, int line) const { return fmt::format("{}:{}", paths[file].string(), line); }

  Paths paths;

 private:
  support::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("records of several files are joined in their order, byte for byte") {
  Files files;
  auto later_release = nlohmann::json(at_split(6));
  later_release["weather"] = "fair";
  files.add(line_of(ok_record(0)) + "\n" + later_release.dump() + "\n");
  files.add({failed_record(1), at_split(7)});
  files.add(std::vector<TrialRecord>{});
  const auto merged = files.merged();
  CHECK(merged.text ==
        line_of(ok_record(0)) + later_release.dump() + "\n" + line_of(failed_record(1)) + line_of(at_split(7)));
  CHECK(merged.trials == 4);
  CHECK(merged.warnings.empty());
}

TEST_CASE("a failure that was measured again keeps both of its records, and counts once") {
  const Files files({{failed_record(0), ok_record(1), ok_record(0)}});
  CHECK(files.merged().text == support::read_file(files.paths[0]));
  CHECK(files.merged().trials == 2);
}

TEST_CASE("a trial that two files have is refused with files, lines and trial, ok or failed") {
  for (const auto& first : {ok_record(1), failed_record(1)}) {
    for (const auto& second : {ok_record(1), failed_record(1)}) {
      const Files files({{ok_record(0), first}, {at_split(7), at_split(8), second}});
      const auto complaint = files.complaint();
      CHECK(contains(complaint, files.place(0, 2) + " and " + files.place(1, 3)));
      CHECK(contains(complaint, ok_record(1).trial.id()));
      CHECK(contains(complaint, "resnet18 split 5/12 batch 8 repetition 2"));
    }
  }
}

TEST_CASE("a file given twice, and a trial that one file has again after it was ok, are duplicates") {
  Files files({{ok_record(0)}});
  files.paths.push_back(files.paths[0]);
  CHECK(contains(files.complaint(), files.place(0, 1) + " and " + files.place(0, 1)));
  const Files pasted({{ok_record(0), at_split(7), ok_record(0)}});
  CHECK(contains(pasted.complaint(), pasted.place(0, 1) + " and " + pasted.place(0, 3)));
}

TEST_CASE("a pair of two programs that was measured again keeps both of its records, and counts once") {
  auto first = ok_record(0), second = ok_record(0);
  first.provenance.side_by_side = record::SideBySide{"0123456789abcdef", 0};
  second.provenance.side_by_side = record::SideBySide{"fedcba9876543210", 1};
  const Files files({{first, ok_record(1), second}});
  CHECK(files.merged().text == support::read_file(files.paths[0]));
  CHECK(files.merged().trials == 2);
  const Files pasted({{first, first}}), of_two_sweeps({{first}, {second}});
  CHECK(contains(pasted.complaint(), "are records of one trial"));
  CHECK(contains(of_two_sweeps.complaint(), "are records of one trial"));
}

TEST_CASE("a record of another schema in any of the files is refused with file, line and trial") {
  Files files({{ok_record(0)}});
  auto newer = nlohmann::json(ok_record(1));
  newer["schema"] = 2;
  files.add(line_of(at_split(7)) + newer.dump() + "\n");
  CHECK(contains(files.complaint(), files.place(1, 2) + ": trial \"" + ok_record(1).trial.id()));
  CHECK(contains(files.complaint(), "schema 2"));
}

TEST_CASE("repetitions of one configuration from different machines are refused with both machines") {
  const Files files({{on_machine(ok_record(0), "pi")}, {on_machine(ok_record(1), "server")}});
  const auto complaint = files.complaint();
  CHECK(contains(complaint, files.place(0, 1) + " was measured on \"pi (Some CPU, 4 CPUs)\""));
  CHECK(contains(complaint, files.place(1, 1)));
  CHECK(contains(complaint, "on \"server (Some CPU, 4 CPUs)\""));
  CHECK(contains(complaint, ok_record(1).trial.id()));
  // One that failed at launch knows no machine, and no name drives a terminal.
  CHECK(Files({{on_machine(ok_record(0), "pi")}, {failed_record(1)}}).merged().trials == 2);
  const Files hostile({{on_machine(ok_record(0), "pi")}, {on_machine(ok_record(1), "\x1b[2Jpi")}});
  CHECK_FALSE(contains(hostile.complaint(), "\x1b"));
}

TEST_CASE("splits of one group from different machines are joined with one warning, experiments without a word") {
  const auto merged = Files({{on_machine(at_split(1), "pi"), on_machine(at_split(2), "pi")},
                             {on_machine(at_split(3), "server"), on_machine(at_split(4), "server")}})
                          .merged();
  CHECK(merged.trials == 4);
  REQUIRE(merged.warnings.size() == 1);
  CHECK(contains(merged.warnings[0], "as if the machines were one"));
  CHECK(contains(merged.warnings[0], "pi"));
  CHECK(contains(merged.warnings[0], "server"));
  auto other = on_machine(ok_record(0), "server");
  other.trial.batch = 16;
  CHECK(Files({{on_machine(ok_record(0), "pi")}, {other}}).merged().warnings.empty());
}

TEST_CASE("the split that is all local has one machine of the two, and is no reason to warn") {
  auto cut = at_split(1);
  cut.stages[1].host.hostname = "server";
  auto local = at_split(12);
  local.stages.pop_back();
  CHECK(record::machines_of(cut) == std::vector<std::string>{"host (Some CPU, 4 CPUs)", "server (Some CPU, 4 CPUs)"});
  CHECK(record::machines_of(local) == std::vector<std::string>{"host (Some CPU, 4 CPUs)"});
  CHECK(Files({{local}, {cut}}).merged().warnings.empty());
}

TEST_CASE("an unfinished last line is left out with a warning, and does not glue two records together") {
  Files files;
  files.add(line_of(ok_record(0)) + line_of(ok_record(1)).substr(0, 500));
  files.add({at_split(7)});
  const auto merged = files.merged();
  CHECK(merged.text == line_of(ok_record(0)) + line_of(at_split(7)));
  CHECK(merged.warnings.size() == 1);
}
