#include <paretopipe/core/error.hpp>
#include <paretopipe/report/constraint.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/quantity.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace paretopipe::report {
namespace {

struct Sign {
  std::string_view text;
  Comparison comparison;
  bool (*holds)(double, double);
};

/// Longer signs first: "<=" begins with "<".
constexpr std::array kSigns{
    Sign{"<=", Comparison::at_most, [](double value, double bound) { return value <= bound; }},
    Sign{">=", Comparison::at_least, [](double value, double bound) { return value >= bound; }},
    Sign{"<", Comparison::less, [](double value, double bound) { return value < bound; }},
    Sign{">", Comparison::greater, [](double value, double bound) { return value > bound; }},
};

const Sign& sign_of(Comparison comparison) {
  return *std::find_if(kSigns.begin(), kSigns.end(), [&](const Sign& sign) { return sign.comparison == comparison; });
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool Constraint::holds(double value) const {
  return sign_of(comparison).holds(value, bound);
}

std::string Constraint::label() const {
  return fmt::format("{} {} {}", metric->name, sign_of(comparison).text, format_value(bound, metric->unit));
}

Constraint parse_constraint(std::string_view text) {
  const auto at = text.find_first_of("<>");
  if (at == std::string_view::npos) {
    throw UsageError(
        fmt::format("\"{}\" is not a constraint; write it like \"latency_p95 < 80ms\" or \"throughput >= 100\"", text));
  }
  const auto rest = text.substr(at);
  const auto* sign =
      std::find_if(kSigns.begin(), kSigns.end(), [&](const Sign& known) { return rest.starts_with(known.text); });
  try {
    const auto& metric = record::find_metric(trimmed(text.substr(0, at)));
    return {&metric, sign->comparison, parse_value(trimmed(rest.substr(sign->text.size())), metric.unit)};
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("in the constraint \"{}\": {}", text, error.what()));
  }
}

std::vector<Constraint> parse_constraints(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  std::transform(texts.begin(), texts.end(), std::back_inserter(constraints), parse_constraint);
  return constraints;
}

}  // namespace paretopipe::report
