#pragma once
#include <paretopipe/record/record_file.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace paretopipe::record {

/// The records of a sweep as read back.
struct RecordSet {
  std::vector<TrialRecord> records;   ///< in file order; of several records with one id the last
  std::vector<TrialRecord> replaced;  ///< the others, in file order: what was measured again, and counts no more
  std::vector<std::string> warnings;  ///< sentences, e.g. that an unfinished last line was ignored
};

/// Reads `path`, a records file or a folder that holds records.jsonl, as visit_records() does. Whoever uses what the
/// records measured has stats::check_summary look at each.
RecordSet read_records(const std::filesystem::path& path, const RecordCheck& check = {});

/// Append-only records.jsonl of one sweep, locked against a second writer for as long as the object lives.
class RecordStore {
 public:
  /// Makes the folder and the file; those that it made itself go again with a store that nothing was appended to.
  /// Throws EnvironmentError when it cannot be made or written, or another process holds its lock, and UsageError when
  /// it has records already and `resume` is false. With `resume`, an unfinished last line is cut off.
  RecordStore(const std::filesystem::path& folder, bool resume);
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  /// One write of one line, flushed to the disk, with the number of the line as the record's position. On failure (disk
  /// full) the file is cut back to its last whole record and EnvironmentError is thrown: nothing recorded earlier is
  /// lost.
  void append(const TrialRecord& record);

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  bool made_folder_ = false;
  bool made_file_ = false;
  int measured_ = 0;  ///< lines of the file
  int descriptor_ = -1;
};

}  // namespace paretopipe::record
