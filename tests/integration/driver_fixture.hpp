#pragma once
#include <paretopipe/record/store.hpp>

#include <string>
#include <vector>

#include <support/files.hpp>
#include <support/processes.hpp>
#include <support/program.hpp>
#include <support/scoped_variable.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::testing {

/// A person at a shell, in an empty folder, with the built driver and the stage program that needs no LibTorch.
class Shell {
 public:
  using Words = std::vector<std::string>;

  support::Program start(const Words& arguments, const std::filesystem::path& standard_output = {}) const {
    Words argv{std::string(PARETOPIPE_BIN_DIR) + "/paretopipe"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return support::Program(argv, folder_.path(), standard_output);
  }
  support::Outcome run(const Words& arguments) const { return start(arguments).wait(); }

  const std::filesystem::path& folder() const { return folder_.path(); }
  bool folder_is_empty() const { return std::filesystem::is_empty(folder_.path()); }
  std::filesystem::path records_file() const { return folder_.path() / "out" / "records.jsonl"; }
  std::vector<record::TrialRecord> records() const { return record::read_records(records_file()).records; }

 private:
  support::TemporaryFolder folder_;
  support::ScopedVariable stage_{"PARETOPIPE_STAGE", std::string(PARETOPIPE_BIN_DIR) + "/fake-stage"};
};

inline Shell::Words operator+(Shell::Words words, const Shell::Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// On inputs that need no data set, into the folder `out`. Nothing is measured again: how busy the machine is must
/// decide no test.
inline Shell::Words sweep_of(const std::string& model) {
  return {"sweep", "--model", model, "--data", "random", "--out", "out", "--repeat-slow", "0"};
}

/// Four splits (0 … 3) of three blocks that take no time.
inline const Shell::Words kInstantSweep = sweep_of("synthetic:0ms/4kB,0ms/64kB,0ms") + Shell::Words{"--batches", "4"};

/// The same with a warm-up of one batch and two repetitions: eight trials of a few milliseconds.
inline const Shell::Words kSweep = kInstantSweep + Shell::Words{"--warmup", "1", "--repeat", "2"};
inline constexpr int kTrials = 8;
/// Calls of the whole model in a trial: two phases of a warm-up and four measured batches.
inline constexpr int kCallsOfATrial = 10;

inline int count(const std::vector<record::TrialRecord>& records, record::Status status) {
  int found = 0;
  for (const auto& record : records) found += record.status == status ? 1 : 0;
  return found;
}

}  // namespace paretopipe::testing
