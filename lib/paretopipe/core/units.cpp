#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace paretopipe {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kDurations{Unit{"s", 1e9}, Unit{"ms", 1e6}, Unit{"us", 1e3}, Unit{"ns", 1}};
constexpr std::array kBinaryBytes{Unit{"GiB", 0x1p30}, Unit{"MiB", 0x1p20}, Unit{"KiB", 0x1p10}, Unit{"B", 1}};
constexpr std::array kDecimalBytes{Unit{"GB", 1e9}, Unit{"MB", 1e6}, Unit{"kB", 1e3}, Unit{"", 1}};
constexpr std::array kBits{Unit{"bit", 1.0 / 8},     Unit{"kbit", 1e3 / 8},     Unit{"Mbit", 1e6 / 8},
                           Unit{"Gbit", 1e9 / 8},    Unit{"Kibit", 0x1p10 / 8}, Unit{"Mibit", 0x1p20 / 8},
                           Unit{"Gibit", 0x1p30 / 8}};
constexpr std::array kRates{Unit{"Gbit/s", 1e9}, Unit{"Mbit/s", 1e6}, Unit{"kbit/s", 1e3}, Unit{"bit/s", 1},
                            Unit{"Gbit", 1e9},   Unit{"Mbit", 1e6},   Unit{"kbit", 1e3},   Unit{"bit", 1},
                            Unit{"gbit", 1e9},   Unit{"mbit", 1e6}};
constexpr std::array kProbabilities{Unit{"%", 0.01}, Unit{"", 1}};
constexpr std::array kCounts{Unit{"G", 1e9}, Unit{"M", 1e6}, Unit{"k", 1e3}, Unit{"", 1}};

/// Formats in the largest unit of which there is at least one, or else in the smallest unit. The choice respects
/// rounding: 9.996 becomes "10.0", and 999.6 ns becomes "1.00 us".
std::string format_with(std::span<const Unit> units, double value) {
  const Unit* chosen = &units.back();
  for (const auto& unit : units) {
    if (std::abs(value) >= 0.9995 * unit.factor) {
      chosen = &unit;
      break;
    }
  }
  const double scaled = value / chosen->factor;
  const double magnitude = std::abs(scaled);
  const bool whole = chosen->factor == 1 && scaled == std::floor(scaled);
  const int decimals = whole || magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}{}", scaled, decimals, chosen->name.empty() ? "" : " ", chosen->name);
}

struct Quantity {
  double value;
  std::string_view unit;
};

Quantity split_quantity(std::string_view text, std::string_view what, std::string_view example) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) {
    throw UsageError(fmt::format("\"{}\" is not {}; write it like {}", text, what, example));
  }
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  return {value, unit};
}

/// `value` × `factor` as a whole number. The product of finite numbers can still exceed 64 bits.
std::int64_t scale(double value, double factor, std::string_view text) {
  const double product = value * factor;
  if (!(product < 0x1p63)) throw UsageError(fmt::format("\"{}\" is too large", text));
  return std::llround(product);
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  for (const auto& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

}  // namespace

std::string format_duration(double nanoseconds) {
  return format_with(kDurations, nanoseconds);
}

std::string format_bytes(double bytes) {
  return format_with(kBinaryBytes, bytes);
}

std::string format_count(double count) {
  return format_with(kCounts, count);
}

double parse_count(std::string_view text) {
  const auto quantity = split_quantity(text, "a number", "940, 3.5k or 1.5 M");
  if (const auto* unit = find_unit(kCounts, quantity.unit)) return quantity.value * unit->factor;
  throw UsageError(fmt::format("\"{}\" is not a number; write it like 940, 3.5k or 1.5 M", text));
}

Nanoseconds parse_duration(std::string_view text) {
  const auto quantity = split_quantity(text, "a duration", "5ms, 1.5s, 250us or 800ns");
  if (const auto* unit = find_unit(kDurations, quantity.unit)) {
    return Nanoseconds(scale(quantity.value, unit->factor, text));
  }
  throw UsageError(fmt::format("\"{}\" has no unit of time; write it like 5ms, 1.5s, 250us or 800ns", text));
}

std::int64_t parse_bytes(std::string_view text) {
  const auto quantity = split_quantity(text, "a number of bytes", "100, 2kB, 2MB, 2KiB or 2MiB");
  for (const auto& units : {std::span<const Unit>(kBinaryBytes), std::span<const Unit>(kDecimalBytes)}) {
    if (const auto* unit = find_unit(units, quantity.unit)) return scale(quantity.value, unit->factor, text);
  }
  throw UsageError(fmt::format("\"{}\" has an unknown unit of bytes; write it like 100, 2kB, 2MB, 2KiB or 2MiB", text));
}

std::int64_t parse_bytes_or_bits(std::string_view text) {
  const auto quantity = split_quantity(text, "an amount of data", "4096 B, 4 kB, 4 KiB or 32 kbit");
  if (!quantity.unit.empty()) {
    for (const auto& units :
         {std::span<const Unit>(kBinaryBytes), std::span<const Unit>(kDecimalBytes), std::span<const Unit>(kBits)}) {
      if (const auto* unit = find_unit(units, quantity.unit)) return scale(quantity.value, unit->factor, text);
    }
  }
  throw UsageError(fmt::format("\"{}\" has no unit of data; write it like 4096 B, 4 kB, 4 KiB or 32 kbit", text));
}

std::int64_t parse_rate(std::string_view text) {
  const auto quantity = split_quantity(text, "a rate", "5 Mbit/s, 1 Gbit/s or 500 kbit/s");
  if (const auto* unit = find_unit(kRates, quantity.unit)) return scale(quantity.value, unit->factor, text);
  throw UsageError(
      fmt::format("\"{}\" has no unit of bits per second; write it like 5 Mbit/s, 1 Gbit/s or 500 kbit/s", text));
}

double parse_probability(std::string_view text) {
  const auto quantity = split_quantity(text, "a probability", "1 % or 0.01");
  const auto* unit = find_unit(kProbabilities, quantity.unit);
  if (unit == nullptr) throw UsageError(fmt::format("\"{}\" is not a probability; write it like 1 % or 0.01", text));
  // Divides instead of multiplying by 0.01, so that "7 %" is the same number as 0.07.
  const double probability = unit->name == "%" ? quantity.value / 100 : quantity.value;
  if (probability > 1)
    throw UsageError(fmt::format("\"{}\" is more than certain; a probability is at most 1, or 100 %", text));
  return probability;
}

std::string format_rate(std::int64_t bit_per_s) {
  const auto value = static_cast<double>(bit_per_s);
  for (const auto& unit : std::span(kRates).first(4)) {
    if (value >= unit.factor) return fmt::format("{} {}", value / unit.factor, unit.name);
  }
  return fmt::format("{} bit/s", bit_per_s);
}

}  // namespace paretopipe
