#pragma once
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/record/metric.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// Writes numbers, splits and settings the same in every format.
namespace paretopipe::record {

/// For people: three digits and a suitable unit ("12.3 ms", "1.50 MiB", "940 image/s").
std::string format_value(double value, std::string_view unit);

/// "1 trial", "3 trials".
std::string quantity(std::size_t count, std::string_view noun);

/// For programs: the shortest decimal without exponent that reads back as the same number.
std::string format_number(double value);

/// A number for JSON. Whole numbers (bytes, counts) are written without ".0", so that they are read as whole numbers.
nlohmann::ordered_json json_number(double value);

/// For programs: the metric's name with its unit, e.g. "latency_p50_ns", "throughput_image_per_s", "payload_bytes".
std::string column_name(const Metric& metric);

/// The cut alone: "7", or "3,7" for two cuts; "data-parallel" where the model is not split.
std::string split_number(const experiment::Trial& trial);

/// The cut with its codec, unless that is none: "7 sort8". It is different for all rows that are compared with each
/// other.
std::string cut_name(const experiment::Trial& trial);

/// The cut for people: "7/20", "7/20 sort8", "0/20 all remote", "20/20 all local", "data-parallel on 3 devices".
std::string split_label(const experiment::Trial& trial);

/// As part of a sentence: "split 7/20", "data-parallel on 3 devices".
std::string split_name(const experiment::Trial& trial);

/// "run, stage 1: connection reset"
std::string describe(const Failure& failure);

struct Setting {
  std::string name;
  std::string value;
};

/// A JSON object as names and texts: nested names are joined with '_', lists with " | ".
std::vector<Setting> flattened(const nlohmann::json& object);

/// Everything that decides a trial except its model, split points and repetition, by name. Taken from the trial's own
/// JSON, so that no setting is forgotten.
std::vector<Setting> settings_of(const experiment::Trial& trial);

/// The same as one flat JSON object, ordered by name: numbers and switches keep their type; a list becomes text.
nlohmann::ordered_json flat_settings(const experiment::Trial& trial);

/// The common settings of a group of splits, for people: the essential ones, then every other one that is not at its
/// default. Groups that differ have different titles.
std::string group_title(const experiment::Trial& trial);

/// `text` on one line: control characters, which could drive a terminal or break a table, become '?'.
std::string printable(std::string_view text);

/// `text` as part of a file name on any system: everything but letters, digits, '_', '-' and '.' becomes '_'.
std::string file_name(std::string_view text);

/// Makes part of a file's name of a model's, likewise. Cuts it after 64 characters, because the names of models of many
/// blocks are longer than a file's may be.
std::string model_file_name(std::string_view model);

}  // namespace paretopipe::record
