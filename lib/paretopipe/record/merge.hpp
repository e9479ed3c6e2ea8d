#pragma once
#include <paretopipe/record/record_file.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace paretopipe::record {

/// Records of several files as one.
struct Merged {
  std::string text;                   ///< every line as it stood, in the order of the files and of the lines in each
  std::size_t trials = 0;             ///< different ones; of a failure and its repetition, one
  std::vector<std::string> warnings;  ///< sentences
};

/// Joins the records of `paths` (each as records_file() takes it). Lines are kept byte for byte, so that fields which a
/// later release has added survive, and so does a failure that --resume measured again, before what replaces it. Throws
/// UsageError that names files, lines and trial for
///   - whatever the reader refuses, e.g. a record of another schema;
///   - a trial that two files have, or that one file has again after it was ok: a reader keeps one record a trial, so
///     that the other would be lost;
///   - repetitions of one configuration from different machines (machines_of): their median would be no machine's.
/// Splits of one group from different machines are a warning: a frontier compares them as if machines did not differ.
Merged merge(const std::vector<std::filesystem::path>& paths, const RecordCheck& check);

}  // namespace paretopipe::record
