#pragma once
#include <paretopipe/record/store.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace paretopipe::record {

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
///   - a trial that two files have, or that one file has again after it was ok: a reader keeps one record a trial, so
///     that the other would be lost;
///   - repetitions of one configuration from different machines (machines_of): their median would be no machine's.
/// Splits of one group from different machines are a warning: a frontier compares them as if machines did not differ.
Merged merge(const std::vector<std::filesystem::path>& paths, const RecordCheck& check);

}  // namespace paretopipe::record
