#include "progress.hpp"

#include <paretopipe/core/notice.hpp>

#include <string>

#include <unistd.h>

#include <fmt/format.h>

namespace paretopipe::cli {
namespace {

constexpr const char* kClearLine = "\r\x1b[2K";

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
  return {[this](const plan::Trial& trial) { starting(trial); },
          [this](const record::TrialRecord& record) { finished(record); },
          [this](const record::TrialRecord& record) { repeating(record); }};
}

void Progress::starting(const plan::Trial& trial) {
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

}  // namespace paretopipe::cli
