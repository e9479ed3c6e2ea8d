#pragma once
#include <paretopipe/core/clock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paretopipe {

/// Three significant digits and a fitting unit: "812 ns", "12.3 us", "1.25 ms", "2.50 s".
std::string format_duration(double nanoseconds);

/// Bytes with binary prefixes: "512 B", "1.50 KiB", "2.25 MiB".
std::string format_bytes(double bytes);

/// A plain count with SI suffixes: "940", "3.50 M", "312 M".
std::string format_count(double count);

/// Parses a plain number with or without an SI suffix: "940", "3.5k", "1.5 M". Throws UsageError for anything else,
/// negative values included.
double parse_count(std::string_view text);

/// Parses "5ms", "1.5 s", "250us", "800ns". Throws UsageError for anything else, negative values included.
Nanoseconds parse_duration(std::string_view text);

/// Parses "100", "100B", "2kB", "2MB", "1GB" (powers of 1000), "2KiB", "2MiB", "1GiB" (powers of 1024). Throws
/// UsageError for anything else, negative values included.
std::int64_t parse_bytes(std::string_view text);

/// Parses an amount of data in bytes or bits and returns bytes, rounded to whole ones. Accepts what parse_bytes
/// accepts, but requires a unit. Also accepts "32 kbit", "1 Mbit" (powers of 1000), "32 Kibit", "1 Mibit" (powers of
/// 1024). Note that tc(8) takes "kbit" as 1024 bits for a size but as 1000 bits for a rate. Throws UsageError.
std::int64_t parse_bytes_or_bits(std::string_view text);

/// Parses "5 Mbit/s", "1.5Gbit/s", "500 kbit/s", "800 bit/s", or tc(8)'s notation "5Mbit", "5mbit" (powers of 1000).
/// Returns bit per second. Refuses "Mbps", which has two meanings, and "MB/s", which is eight times as much. Throws
/// UsageError.
std::int64_t parse_rate(std::string_view text);

/// Parses "1 %", "0.5%", or a plain "0.01". Throws UsageError for anything else and for values outside 0 to 1.
double parse_probability(std::string_view text);

/// "5 Mbit/s", "1.5 Gbit/s": the fewest digits that parse_rate reads back unchanged.
std::string format_rate(std::int64_t bit_per_s);

}  // namespace paretopipe
