#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <string>
#include <string_view>

/// Phrases that the sentences of a diagnosis share. ASCII, whatever the terminal.
namespace paretopipe::diagnosis {

/// "compute of stage 0", "the link from stage 0 to stage 1", "the way back from stage 1 to stage 0", "the source",
/// "the number of batches in flight"
std::string name_of(const Constraint& constraint);

/// "12.3 ms", "940 image/s", "1.50 MiB"
std::string duration(double nanoseconds);
std::string rate(double image_per_s);
std::string bytes(double count);

/// "96 %", "0.4 %"
std::string percent(double share);

/// "1.37 times"
std::string times(double factor);

/// "7 (layer2.0)", or "7" if the block's name is unknown.
std::string numbered(int block, const GroupDiagnosis& group);

/// Describes a trial's partition as part of a sentence: "a cut after block 7 (layer2.0)", "cuts after blocks 3, 7",
/// "not splitting", "leaving all to the last stage".
std::string way_to_cut(const plan::Trial& trial, const GroupDiagnosis& group);

}  // namespace paretopipe::diagnosis
