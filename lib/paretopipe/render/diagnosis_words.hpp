#pragma once
#include <paretopipe/analysis/diagnosis/diagnosis.hpp>
#include <paretopipe/render/table.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::render {

/// A run this far beyond its bound was too short for the bound to hold.
inline constexpr double kBeyond = 1.02;

// Phrases that the sentences of a diagnosis share. ASCII, whatever the terminal.

/// "compute of stage 0", "the link from stage 0 to stage 1", "the way back from stage 1 to stage 0", "the source",
/// "the number of batches in flight"
std::string name_of(const diagnosis::Constraint& constraint);

/// "12.3 ms", "940 image/s", "1.50 MiB"
std::string duration(double nanoseconds);
std::string rate(double image_per_s);
std::string bytes(double count);

/// "1.37 times"
std::string times(double factor);

/// "7 (layer2.0)", or "7" if the block's name is unknown.
std::string numbered(int block, const diagnosis::GroupDiagnosis& group);

/// Describes a trial's partition as part of a sentence: "a cut after block 7 (layer2.0)", "cuts after blocks 3, 7",
/// "not splitting", "leaving all to the last stage".
std::string way_to_cut(const experiment::Trial& trial, const diagnosis::GroupDiagnosis& group);

// Compares a configuration with the baselines of its group, in sentences. A sentence is empty if its baseline was not
// measured or is the configuration itself. Except for data parallelism, `one` must have demands.

/// Part of a sentence: "0.67 times not splitting (400 image/s)".
std::string times_all_local(const diagnosis::GroupDiagnosis& group, double image_per_s);

/// How fast the stages could be if they shared the work evenly, and what prevents that.
std::string limits(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one);

/// How much longer the model computes when it is cut, if that is notable.
std::string compute_growth(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one);

/// Where the difference in latency comes from.
std::string latency(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one);

/// Compares with data parallelism on as many devices.
std::string against_data_parallel(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one);

/// Compares with the same stages with one batch in flight; empty if no more were in flight.
std::string against_sequential(const diagnosis::ConfigurationDiagnosis& one);

/// What data parallelism itself reaches, and remarks on it. `one` must have a result that counts.
std::string data_parallel_headline(const diagnosis::GroupDiagnosis& group,
                                   const diagnosis::ConfigurationDiagnosis& one);
std::vector<std::string> data_parallel_remarks(const diagnosis::ConfigurationDiagnosis& one);

// What explains the time of a step of training, in words. All of these need `one.step`.

/// How fast it is and how fast its schedule could be.
std::string step_headline(const diagnosis::ConfigurationDiagnosis& one);

/// What a step's time is made of, the largest first, and what would help.
std::vector<std::string> step_remarks(const diagnosis::GroupDiagnosis& group,
                                      const diagnosis::ConfigurationDiagnosis& one);

/// The fastest way to train of a group, and how it compares with one device.
std::string step_conclusion(const diagnosis::GroupDiagnosis& group);

/// A column for each stage, and a row for each part of a step.
Table step_table(const diagnosis::ConfigurationDiagnosis& one);

}  // namespace paretopipe::render
