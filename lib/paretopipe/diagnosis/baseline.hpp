#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <string>
#include <vector>

/// A configuration against the baselines of its group, in sentences; empty ones where a baseline was not measured, and
/// of that baseline itself. But for data parallelism, `one` must have demands.
namespace paretopipe::diagnosis {

/// "0.67 times not splitting (400 image/s)": a part of a sentence.
std::string times_all_local(const GroupDiagnosis& group, double image_per_s);

/// How fast stages that shared the work evenly could be, and what keeps these from it.
std::string limits(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// How much longer the model computes where it is cut, if that is notable.
std::string compute_growth(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// Where the difference in latency comes from.
std::string latency(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// Against data parallelism on as many devices.
std::string against_data_parallel(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// Against the same stages with one batch in flight; empty where no more were in flight.
std::string against_sequential(const ConfigurationDiagnosis& one);

/// What data parallelism itself reaches, which must have a result that counts, and what there is to say of it.
std::string data_parallel_headline(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);
std::vector<std::string> data_parallel_remarks(const ConfigurationDiagnosis& one);

}  // namespace paretopipe::diagnosis
