#include <paretopipe/compare/rule.hpp>
#include <paretopipe/core/error.hpp>

#include <charconv>
#include <cmath>
#include <optional>

namespace paretopipe::compare {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// "-5%", "+10 %", "0%"
std::optional<double> parse_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text = trimmed(text.substr(0, text.size() - 1));
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw UsageError(fmt::format("\"{}\" is not a rule: {}", text, why));
}

}  // namespace

std::string Rule::text() const {
  return fmt::format("{} {} {}{}%", metric->name, above ? '>' : '<',
                     above          ? "+"
                     : percent == 0 ? "-"
                                    : "",
                     percent == 0 ? 0 : percent);
}

Rule parse_rule(std::string_view text) {
  constexpr std::string_view form =
      "it has the form METRIC < -N% or METRIC > +N%, where N is a change of the median in percent, as in 'throughput < "
      "-5%'";
  const auto comparison = text.find_first_of("<>");
  if (comparison == std::string_view::npos) refuse(text, form);
  const auto percent = parse_percent(trimmed(text.substr(comparison + 1)));
  if (!percent) refuse(text, form);
  const bool above = text[comparison] == '>';
  if (above ? *percent < 0 : *percent > 0) refuse(text, "no change at all would break it; use < -N% or > +N%");
  if (*percent <= -100) refuse(text, "nothing falls by more than 100 %, so it could never be broken");
  return {&record::find_metric(trimmed(text.substr(0, comparison))), above, *percent};
}

}  // namespace paretopipe::compare
