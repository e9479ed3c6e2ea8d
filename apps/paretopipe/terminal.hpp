#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/record/store.hpp>
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/table.hpp>
#include <paretopipe/run/sweep.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace paretopipe::cli {

/// Takes back an unfinished line.
inline constexpr const char* kClearLine = "\r\x1b[2K";

/// Adds `--format` with these names, and returns it; `format` holds the default.
CLI::Option* add_format_option(CLI::App& command, std::string& format, const std::vector<std::string>& names);

/// Adds `--out` for what deliver() writes.
void add_out_option(CLI::App& command, std::string& out);

/// Adds the flags that choose trials of a file. The trial's id may also come without its flag, behind the path.
void add_selection_options(CLI::App& command, render::TrialSelection& selection);

/// Adds a flag that may be given several times, with one value each time: with more it would swallow a path behind it.
void add_repeatable(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                    const std::string& type, const std::string& meaning);

/// The style for the reader of `out`: a file or, if the name is empty, whatever standard output is.
render::TextStyle text_style(const std::string& out);

/// Writes to the file `out`, whole or not at all; or, if the name is empty, to standard output. Throws
/// EnvironmentError.
void deliver(std::string_view text, const std::string& out);

/// Shows the progress of a sweep with the time left, on one line of stderr, if stderr is a terminal. Writes only
/// between trials.
class Progress {
 public:
  /// The display counts `already_done` trials, the estimate does not. In an adaptive sweep `remaining` is only an upper
  /// limit, and nothing is estimated from it.
  Progress(std::size_t remaining, std::size_t already_done, bool adaptive);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Must not outlive this object.
  run::SweepObserver observer();

  /// Clears the line. Happens by itself when an error ends the sweep.
  void finish();

 private:
  void starting(const experiment::Trial& trial);
  void finished(const record::TrialRecord& record);
  void repeating(const record::TrialRecord& record);

  bool terminal_;
  bool shown_ = false;
  std::size_t remaining_;
  std::size_t already_done_;
  bool adaptive_;
  std::size_t completed_ = 0;
  Clock::time_point begin_ = Clock::now();
};

/// Prints warnings to standard error, one per line.
void print_warnings(std::span<const std::string> warnings);

/// Reads records whose numbers will be used: checks that each follows from its samples (stats::check_summary). Prints
/// the warnings. Throws UsageError.
record::RecordSet load_records(const std::filesystem::path& path);

/// Throws UsageError if writing to `out` (empty: no file) would replace `source` or the records in it.
void check_not_replaced(const std::filesystem::path& source, const std::filesystem::path& out);

}  // namespace paretopipe::cli
