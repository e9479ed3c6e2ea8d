#include "terminal.hpp"

#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/render/output.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::cli {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The terminal's width; the traditional one for a file or pipe.
int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return render::TextStyle{}.width;
}

/// True if the locale for characters (POSIX: LC_ALL over LC_CTYPE over LANG) uses UTF-8.
bool locale_is_utf8() {
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto value = environment(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

CLI::Option* add_format_option(CLI::App& command, std::string& format, const std::vector<std::string>& names) {
  const auto meaning = fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
  return command.add_option("--format", format, meaning)->check(CLI::IsMember(names))->capture_default_str();
}

void add_out_option(CLI::App& command, std::string& out) {
  command.add_option("--out", out, "Write to a file, whole or not at all")->type_name("FILE");
}

void add_selection_options(CLI::App& command, render::TrialSelection& selection) {
  command.add_option("trial,--trial", selection.id_prefix, "Only the trial whose id begins so")->type_name("ID");
  command.add_option("--split", selection.split, "Only trials of this split: 7, or 3,7 for two cuts")->type_name("K");
  command.add_option("--network", selection.network, "Only trials over the network of this name")->type_name("NAME");
  command
      .add_option("--repetition", selection.repetition,
                  "Only this repetition, counted from 1 (in columns, as in records, it counts from 0)")
      ->type_name("N");
}

void add_repeatable(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                    const std::string& type, const std::string& meaning) {
  command.add_option(flag, values, meaning)->type_name(type)->allow_extra_args(false);
}

render::TextStyle text_style(const std::string& out) {
  if (!out.empty()) return {.unicode = locale_is_utf8()};
  // https://no-color.org: any value but an empty one.
  const bool colour = ::isatty(STDOUT_FILENO) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {.width = terminal_width(), .colour = colour, .unicode = locale_is_utf8()};
}

void deliver(std::string_view text, const std::string& out) {
  if (out.empty()) {
    render::write_standard_output(text);
  } else {
    render::write_file(out, text);
  }
}

namespace {

/// "4:05" or "1:02:03".
std::string clock_text(Clock::duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

Progress::Progress(std::size_t remaining, std::size_t already_done, bool adaptive)
    : terminal_(::isatty(STDERR_FILENO) != 0),
      remaining_(remaining),
      already_done_(already_done),
      adaptive_(adaptive) {}

run::SweepObserver Progress::observer() {
  return {[this](const experiment::Trial& trial) { starting(trial); },
          [this](const record::TrialRecord& record) { finished(record); },
          [this](const record::TrialRecord& record) { repeating(record); }};
}

void Progress::starting(const experiment::Trial& trial) {
  if (!terminal_) return;
  std::string left;
  if (completed_ > 0 && !adaptive_) {
    left = fmt::format("  {} left", clock_text((Clock::now() - begin_) / completed_ * (remaining_ - completed_)));
  }
  print_notice("{}[{}/{}{}] {}{}", kClearLine, already_done_ + completed_ + 1, adaptive_ ? "at most " : "",
               already_done_ + remaining_, trial.label(), left);
  shown_ = true;
}

void Progress::finished(const record::TrialRecord& record) {
  ++completed_;
  if (record.failure) {
    print_notice("{}{} failed ({}): {}\n", terminal_ ? kClearLine : "", record.trial.label(), record.failure->phase,
                 record.failure->reason);
  }
}

void Progress::repeating(const record::TrialRecord& record) {
  print_notice("{}{}: {}\n", terminal_ ? kClearLine : "", record.trial.label(), record.failure->reason);
}

void Progress::finish() {
  if (shown_) print_notice("{}", kClearLine);
  shown_ = false;
}

void print_warnings(std::span<const std::string> warnings) {
  for (const auto& warning : warnings) print_notice("warning: {}\n", warning);
}

record::RecordSet load_records(const std::filesystem::path& path) {
  auto set = record::read_records(path, stats::check_summary);
  print_warnings(set.warnings);
  return set;
}

void check_not_replaced(const std::filesystem::path& source, const std::filesystem::path& out) {
  std::error_code unknown;
  const auto file = std::filesystem::is_directory(source, unknown) ? source / record::kRecordsFileName : source;
  if (out.empty() || !std::filesystem::equivalent(file, out, unknown)) return;
  throw UsageError(fmt::format("{} is what is read, and would be lost; choose another file to write to", out.string()));
}

}  // namespace paretopipe::cli
