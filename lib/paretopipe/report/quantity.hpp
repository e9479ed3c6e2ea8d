#pragma once
#include <string_view>

namespace paretopipe::report {

/// Parses a value in the unit of a metric, as people write it: "80ms" (unit "ns"), "512 MiB" ("B"), "5 MiB/s" or "40
/// Mbit/s" ("B/s"), "100 image/s" or "100" ("image/s"), "5 %" or "0.05" (""). Throws UsageError that says how to write
/// it.
double parse_value(std::string_view text, std::string_view unit);

}  // namespace paretopipe::report
