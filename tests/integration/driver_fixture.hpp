#pragma once
#include <paretopipe/record/store.hpp>

#include <csignal>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/processes.hpp>
#include <support/program.hpp>
#include <support/scoped_variable.hpp>
#include <support/temporary_folder.hpp>
#include <support/thrown.hpp>
#include <support/words.hpp>

namespace paretopipe::testing {

using support::check_contains;
using support::contains;
using support::Words;

/// A stage program without LibTorch.
inline const std::string kStage = PARETOPIPE_BIN_DIR "/fake-stage";

/// A person at a shell, in an empty folder, with the built driver.
class Shell {
 public:
  /// Stages need no LibTorch unless they are `real`.
  enum class Stages { fake, real };
  explicit Shell(Stages stages = Stages::fake) {
    if (stages == Stages::fake) stage_.emplace("PARETOPIPE_STAGE", kStage);
  }

  support::Program start(const Words& arguments, const std::filesystem::path& standard_output = {}) const {
    return support::Program(Words("'" PARETOPIPE_BIN_DIR "/paretopipe'") + arguments, folder(), standard_output);
  }
  support::Outcome run(const Words& arguments) const { return start(arguments).wait(); }

  /// It must end so.
  support::Outcome run(int exit_code, const Words& arguments) const {
    const auto outcome = run(arguments);
    CAPTURE(arguments, outcome.output, outcome.errors);
    REQUIRE(outcome.exit_code == exit_code);
    return outcome;
  }

  /// What a command answers in JSON.
  nlohmann::json as_json(const Words& arguments, int exit_code = 0) const {
    return nlohmann::json::parse(run(exit_code, arguments + "--format json").output);
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string text(const std::string& file) const { return support::read_file(folder() / file); }
  void write(const std::string& file, const std::string& text) const { support::write_file(folder() / file, text); }
  bool has(const std::string& file) const { return std::filesystem::exists(folder() / file); }
  /// Names in the folder.
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) names.insert(entry.path().filename());
    return names;
  }
  std::filesystem::path records_file() const { return folder() / "out" / "records.jsonl"; }
  std::vector<record::TrialRecord> records(const std::string& in = "out") const {
    return record::read_records(folder() / in).records;
  }

 private:
  support::TemporaryFolder folder_;
  std::optional<support::ScopedVariable> stage_;
};

/// Makes devices.json: this machine as "local", and the same as "pi", of which `pi` says the rest.
inline void write_devices(const Shell& shell, nlohmann::json pi) {
  pi["address"] = "127.0.0.1";
  shell.write("devices.json", nlohmann::json{{"local", {{"address", "127.0.0.1"}}}, {"pi", pi}}.dump());
}

/// Makes devices.json, in which "pi" has real stages and, in the folder `pi`, a cache of its own.
inline Words on_pi_too(const Shell& shell) {
  const auto cache = "XDG_CACHE_HOME=" + (shell.folder() / "pi").string();
  write_devices(shell, {{"launch", {"env", cache}}, {"program", PARETOPIPE_BIN_DIR "/paretopipe-stage"}});
  return "--devices devices.json --on local --on pi";
}

struct Refusal {
  Words words;
  std::string named;
  int exit_code = 2;
};

/// Each of them, behind `command`, is answered by a sentence that names what is wrong, and makes nothing.
inline void check_refused(const Shell& shell, const Words& command, const std::vector<Refusal>& refusals) {
  const auto before = shell.files();
  for (const auto& [words, named, exit_code] : refusals) {
    const auto answer = shell.run(command + words);
    CAPTURE(words, named, answer.errors);
    CHECK(answer.exit_code == exit_code);
    CHECK(contains(answer.errors, named));
    CHECK(answer.output.empty());
    CHECK(shell.files() == before);
  }
}

/// Writes a page by this command. Skips the test case where the driver was built without the charting library, which it
/// must say.
inline void write_page(const Shell& shell, const Words& command) {
  const auto outcome = shell.run(command);
  if (outcome.exit_code == 3 && contains(outcome.errors, "scripts/fetch-echarts")) support::skip(outcome.errors);
  INFO(outcome.errors);
  REQUIRE(outcome.exit_code == 0);
}

/// On inputs that need no data set, into the folder `out`. Nothing is measured again: how busy the machine is must
/// decide no test.
inline Words sweep_of(const std::string& model) {
  return "sweep --data random --out out --repeat-slow 0 --model " + model;
}

/// Four splits (0 … 3) of three blocks that take no time.
inline const Words kInstantSweep = sweep_of("synthetic:0ms/4kB,0ms/64kB,0ms") + "--batches 4";

/// The same with a warm-up of one batch: four trials of a few milliseconds, or eight in two repetitions.
inline const Words kOneRepetition = kInstantSweep + "--warmup 1 --repeat 1";
inline const Words kSweep = kInstantSweep + "--warmup 1 --repeat 2";
inline constexpr int kTrials = 8;
/// Calls of the whole model in a trial: two phases of a warm-up and four measured batches.
inline constexpr int kCallsOfATrial = 10;

/// How often `part` is in `text`.
inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

inline int count(const std::vector<record::TrialRecord>& records, record::Status status) {
  int found = 0;
  for (const auto& record : records) found += record.status == status ? 1 : 0;
  return found;
}

/// Runs a command, and ends it by `signal` as soon as the fault has happened. Its stages, two or more, end with it.
inline support::Outcome end_at(const support::FaultOnce& fault, int signal, const Shell& shell, const Words& command) {
  auto program = shell.start(command);
  REQUIRE(support::wait_until_written(fault.marker()));
  const auto stages = support::watch(support::children_of(program.pid()));
  CHECK(stages.size() >= 2);
  ::kill(program.pid(), signal);
  const auto outcome = program.wait();
  CHECK(support::all_ended(stages));
  return outcome;
}

/// A folder that kSweep was run in, once for all tests of a program that leave its `out` as it is.
inline const Shell& swept() {
  static const Shell shell;
  static const auto outcome = shell.run(kSweep);
  if (outcome.exit_code != 0) throw std::runtime_error("the sweep failed: " + outcome.errors);
  return shell;
}

/// A folder of its own with the same records, for a test that changes them.
struct SweptShell : Shell {
  SweptShell() { std::filesystem::copy(swept().folder() / "out", folder() / "out"); }
};

/// Writes what is in `out` to the folder `exported`, in these layouts.
inline void export_in(const Shell& shell, const std::vector<std::string>& layouts) {
  for (const auto& layout : layouts) shell.run(0, "export out --out exported --layout " + layout);
}

}  // namespace paretopipe::testing
