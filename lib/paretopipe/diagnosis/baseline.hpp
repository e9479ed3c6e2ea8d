#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <string>
#include <vector>

/// Compares a configuration with the baselines of its group, in sentences. A sentence is empty if its baseline was not
/// measured or is the configuration itself. Except for data parallelism, `one` must have demands.
namespace paretopipe::diagnosis {

/// Part of a sentence: "0.67 times not splitting (400 image/s)".
std::string times_all_local(const GroupDiagnosis& group, double image_per_s);

/// How fast the stages could be if they shared the work evenly, and what prevents that.
std::string limits(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// How much longer the model computes when it is cut, if that is notable.
std::string compute_growth(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// Where the difference in latency comes from.
std::string latency(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// Compares with data parallelism on as many devices.
std::string against_data_parallel(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// Compares with the same stages with one batch in flight; empty if no more were in flight.
std::string against_sequential(const ConfigurationDiagnosis& one);

/// What data parallelism itself reaches, and remarks on it. `one` must have a result that counts.
std::string data_parallel_headline(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);
std::vector<std::string> data_parallel_remarks(const ConfigurationDiagnosis& one);

}  // namespace paretopipe::diagnosis
