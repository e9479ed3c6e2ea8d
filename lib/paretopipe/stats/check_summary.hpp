#pragma once
#include <paretopipe/record/record.hpp>

namespace paretopipe::stats {

/// Throws UsageError unless the record's summary equals what summarise() makes of its samples, to one part in 10^9
/// (other compilers add in other orders), and there are at least as many samples as its trial asks for. A record
/// without a summary has nothing to check. The same holds for its Server phases. Numbers that were edited by hand or
/// damaged must not become a result.
void check_summary(const record::TrialRecord& record);

}  // namespace paretopipe::stats
