#pragma once
#include <paretopipe/core/file_descriptor.hpp>
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

/// The records of a sweep, read from its file.
struct RecordSet {
  std::vector<TrialRecord> records;   ///< in file order; only the last record of each id
  std::vector<TrialRecord> replaced;  ///< earlier records of the same ids, in file order: they no longer count
  std::vector<std::string> warnings;  ///< sentences, e.g. that an unfinished last line was ignored
};

/// Reads `path`, a records file or a folder with records.jsonl, as visit_records() does. Users of the measured values
/// should pass stats::check_summary as the check.
RecordSet read_records(const std::filesystem::path& path, const RecordCheck& check = {});

/// The append-only records.jsonl of one sweep, locked against a second writer for the lifetime of the object.
class RecordStore {
 public:
  /// Makes the folder and the file. Removes those that it made if nothing is appended before it is destroyed. Throws
  /// EnvironmentError if they cannot be made or written, or if another process holds the lock, and UsageError if the
  /// file has records and `resume` is false. With `resume`, an unfinished last line is cut off; one that no record
  /// begins with is a UsageError and stays.
  RecordStore(const std::filesystem::path& folder, bool resume);
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  /// Writes one line with one write and flushes it to the disk; the line's number is the record's position. On failure
  /// (disk full), cuts the file back to its last whole record and throws EnvironmentError; no earlier record is lost.
  void append(const TrialRecord& record);

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  bool made_folder_ = false;
  bool made_file_ = false;
  int measured_ = 0;  ///< lines of the file
  FileDescriptor descriptor_;
};

/// The records of several files, joined.
struct Merged {
  std::string text;                   ///< every line, unchanged, in the order of the files and of the lines in each
  std::size_t trials = 0;             ///< different trials; a failure and its repetition count once
  std::vector<std::string> warnings;  ///< sentences
};

/// Joins the records of `paths` (each as in records_file()). Keeps lines byte for byte, so that fields of later
/// releases survive; a failure that --resume measured again stays before its replacement. Throws UsageError that names
/// files, lines and trial for
///   - whatever the reader refuses, e.g. a record of another schema;
///   - a trial that two files have, or that one file has again after it was ok (unless in another pair of two programs,
///     which is measured again as a whole): a reader keeps one record a trial, so that the other would be lost;
///   - repetitions of one configuration from different machines (machines_of): their median would be no machine's.
/// Splits of one group from different machines are a warning: a frontier compares them as if machines did not differ.
Merged merge(const std::vector<std::filesystem::path>& paths, const RecordCheck& check);

}  // namespace paretopipe::record
