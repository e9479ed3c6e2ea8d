#include <paretopipe/compare/render.hpp>
#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "wording.hpp"

namespace paretopipe::compare {
namespace {

/// The two characters that XML 1.0 cannot hold and printable(), which takes control characters, leaves: U+FFFE and
/// U+FFFF, in UTF-8 EF BF BE and EF BF BF.
bool is_forbidden(std::string_view text) {
  return text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
}

/// Text for an attribute's value.
std::string xml_attribute(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::string_view kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
  const auto clean = report::printable(text);
  std::string escaped;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const auto found = kSpecial.find(clean[i]);
    if (found != std::string_view::npos) {
      escaped += kEntities[found];
    } else if (is_forbidden(std::string_view(clean).substr(i))) {
      escaped += '?';
      i += 2;
    } else {
      escaped += clean[i];
    }
  }
  return escaped;
}

/// What is inside of a testcase: nothing where the rule held.
std::string result_of(const Rule& rule, const Change& change, Outcome outcome, bool strict) {
  if (outcome == Outcome::held) return "";
  const auto reason = xml_attribute(explain(rule, change));
  if (outcome == Outcome::undecided && !strict) return fmt::format("<skipped message=\"{}\"/>", reason);
  return fmt::format("<failure type=\"{}\" message=\"{}\"/>", to_string(outcome), reason);
}

std::string testcase(const Comparison& comparison, const ConfigurationChange& configuration, std::size_t rule) {
  const auto& trial = configuration.trial;
  return fmt::format("    <testcase classname=\"{}\" name=\"split {}: {}\">{}</testcase>\n",
                     xml_attribute(report::group_title(trial)), xml_attribute(report::split_label(trial)),
                     xml_attribute(comparison.request.rules[rule].text()),
                     result_of(comparison.request.rules[rule], comparison.change_of(configuration, rule),
                               configuration.outcomes[rule], comparison.request.strict));
}

}  // namespace

std::string render_junit(const Comparison& comparison) {
  std::string testcases;
  for (const auto& configuration : comparison.configurations) {
    for (std::size_t rule = 0; rule < comparison.request.rules.size(); ++rule) {
      testcases += testcase(comparison, configuration, rule);
    }
  }
  const auto undecided = comparison.count(Outcome::undecided);
  const auto broken = comparison.count(Outcome::broken);
  const auto counts = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", broken + undecided + comparison.count(Outcome::held),
      comparison.request.strict ? broken + undecided : broken, comparison.request.strict ? 0 : undecided);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"paretopipe compare\" {0}>\n{1}"
      "  </testsuite>\n</testsuites>\n",
      counts, testcases);
}

}  // namespace paretopipe::compare
