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

/// "940", "3.5k", "1.5 M": a plain number, with or without an SI suffix. Throws UsageError for anything else, negative
/// values included.
double parse_count(std::string_view text);

/// "5ms", "1.5 s", "250us", "800ns". Throws UsageError for anything else, negative values included.
Nanoseconds parse_duration(std::string_view text);

/// "100", "100B", "2kB", "2MB", "1GB" (powers of 1000), "2KiB", "2MiB", "1GiB" (powers of 1024).
/// Throws UsageError for anything else, negative values included.
std::int64_t parse_bytes(std::string_view text);

/// An amount of data that people also count in bits, as bytes: what parse_bytes takes, but never without a unit, and
/// "32 kbit", "1 Mbit" (powers of 1000), "32 Kibit", "1 Mibit" (powers of 1024), rounded to whole bytes. Note that
/// tc(8) means 1024 bits when it reads "kbit" as a size, though 1000 when it reads it as a rate. Throws UsageError.
std::int64_t parse_bytes_or_bits(std::string_view text);

/// "5 Mbit/s", "1.5Gbit/s", "500 kbit/s", "800 bit/s", or as tc(8) writes them: "5Mbit", "5mbit"; powers of 1000. Bit
/// per second. "Mbps" and "MB/s" are refused: one has two meanings, the other is eight times as much. Throws
/// UsageError.
std::int64_t parse_rate(std::string_view text);

/// "1 %", "0.5%", or a plain "0.01". Throws UsageError for anything else and for what is not between 0 and 1.
double parse_probability(std::string_view text);

/// "5 Mbit/s", "1.5 Gbit/s": as few digits as say the value, so that parse_rate reads it back unchanged.
std::string format_rate(std::int64_t bit_per_s);

}  // namespace paretopipe
