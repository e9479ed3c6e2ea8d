#include <paretopipe/core/error.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/report/quantity.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace paretopipe::report {
namespace {

/// Removes `ending` and the blanks before it from `text`. False if `text` has another ending.
bool remove_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  return true;
}

double parse_nanoseconds(std::string_view text) {
  return static_cast<double>(parse_duration(text).count());
}

double parse_size(std::string_view text) {
  return static_cast<double>(parse_bytes(text));
}

double parse_byte_rate(std::string_view text) {
  if (text.ends_with("bit/s")) return static_cast<double>(parse_rate(text)) / 8;
  auto bytes = text;
  if (!remove_ending(bytes, "/s")) {
    throw UsageError(fmt::format("\"{}\" is not a rate of data; write it like 5 MiB/s or 40 Mbit/s", text));
  }
  return parse_size(bytes);
}

double parse_image_rate(std::string_view text) {
  auto count = text;
  if (!remove_ending(count, "image/s")) remove_ending(count, "/s");
  try {
    return parse_count(count);
  } catch (const UsageError&) {
    throw UsageError(fmt::format("\"{}\" is not a number of images per second; write it like 100 image/s", text));
  }
}

double parse_share(std::string_view text) {
  return text.ends_with('%') ? parse_probability(text) : parse_count(text);
}

struct Reader {
  std::string_view unit;  ///< as in record::Metric
  double (*parse)(std::string_view);
};

constexpr std::array kReaders{Reader{"ns", parse_nanoseconds}, Reader{"B", parse_size}, Reader{"B/s", parse_byte_rate},
                              Reader{"image/s", parse_image_rate}, Reader{"", parse_share}};

}  // namespace

double parse_value(std::string_view text, std::string_view unit) {
  const auto* reader = std::find_if(kReaders.begin(), kReaders.end(), [&](const auto& r) { return r.unit == unit; });
  if (reader == kReaders.end()) throw std::logic_error(fmt::format("no way to read the unit {}", unit));
  return reader->parse(text);
}

}  // namespace paretopipe::report
