#pragma once
#include <paretopipe/core/clock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paretopipe {

/// Three significant digits with the unit that fits: "812 ns", "12.3 us", "1.25 ms", "2.50 s".
std::string format_duration(double nanoseconds);

/// Bytes with binary prefixes: "512 B", "1.50 KiB", "2.25 MiB".
std::string format_bytes(double bytes);

/// A plain count with SI suffixes: "940", "3.50 M", "312 M".
std::string format_count(double count);

/// "5ms", "1.5 s", "250us", "800ns". Throws UsageError for anything else, negative values included.
Nanoseconds parse_duration(std::string_view text);

/// "100", "100B", "2kB", "2MB", "1GB" (powers of 1000), "2KiB", "2MiB", "1GiB" (powers of 1024).
/// Throws UsageError for anything else, negative values included.
std::int64_t parse_bytes(std::string_view text);

}  // namespace paretopipe
