#pragma once
#include <paretopipe/record/record.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::record {

/// Of the records in a results folder.
inline constexpr const char* kRecordsFileName = "records.jsonl";

/// A record where it stands.
struct RecordLine {
  int number = 0;         ///< of the line in its file, from 1
  std::string_view text;  ///< as it stands there, without its line feed; valid during the visit only
  TrialRecord record;
};

/// Further conditions on a record; throws UsageError with a sentence, to which the reader adds file, line and trial.
using RecordCheck = std::function<void(const TrialRecord&)>;

/// `path` itself, or, of a folder, its records.jsonl. Need not exist.
std::filesystem::path records_file(const std::filesystem::path& path);

/// Visits every record of `path` (see records_file) in file order, those included that a later one replaces, and
/// returns warnings: sentences, e.g. that an unfinished last line, as a kill in the middle of a write leaves it, was
/// ignored. Anything else that is wrong throws UsageError with file, line and, where the line names one, the trial.
std::vector<std::string> visit_records(const std::filesystem::path& path, const RecordCheck& check,
                                       const std::function<void(RecordLine&&)>& visit);

/// The whole file. Throws UsageError where it cannot be read.
std::string read_text_of(const std::filesystem::path& file);

}  // namespace paretopipe::record
