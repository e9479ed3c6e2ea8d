#pragma once
#include <paretopipe/record/record.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::record {

/// The name of the records file in a results folder.
inline constexpr const char* kRecordsFileName = "records.jsonl";

/// A record and its place in the file.
struct RecordLine {
  int number = 0;         ///< of the line in its file, from 1
  std::string_view text;  ///< without its line feed; valid only during the visit
  TrialRecord record;
};

/// Further conditions on a record. Throws UsageError with a sentence; the reader adds file, line and trial.
using RecordCheck = std::function<void(const TrialRecord&)>;

/// `path` itself or, if it is a folder, its records.jsonl. Need not exist.
std::filesystem::path records_file(const std::filesystem::path& path);

/// Visits every record of `path` (see records_file) in file order, including those that a later one replaces. Returns
/// warnings: sentences, e.g. that the last line was ignored because a kill in the middle of a write left it unfinished.
/// Any other error throws UsageError with file, line and, if the line names one, the trial.
std::vector<std::string> visit_records(const std::filesystem::path& path, const RecordCheck& check,
                                       const std::function<void(RecordLine&&)>& visit);

/// The text of the whole file. Throws UsageError if it cannot be read.
std::string read_text_of(const std::filesystem::path& file);

}  // namespace paretopipe::record
