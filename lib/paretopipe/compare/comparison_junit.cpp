#include <paretopipe/compare/render.hpp>
#include <paretopipe/report/format.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "change_table.hpp"
#include "wording.hpp"

namespace paretopipe::compare {
namespace {

/// True if `text` begins with U+FFFE (EF BF BE in UTF-8) or U+FFFF (EF BF BF). XML 1.0 forbids them, and printable(),
/// which removes control characters, leaves them in.
bool is_forbidden(std::string_view text) {
  return text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
}

/// Escapes text for an attribute's value.
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

/// The content of a testcase element; empty where the rule held.
std::string result_of(const Rule& rule, const Change& change, Outcome outcome, bool strict) {
  if (outcome == Outcome::held) return "";
  const auto reason = xml_attribute(explain(rule, change));
  if (outcome == Outcome::undecided && !strict) return fmt::format("<skipped message=\"{}\"/>", reason);
  return fmt::format("<failure type=\"{}\" message=\"{}\"/>", to_string(outcome), reason);
}

std::string testcase(const std::string& group, const std::string& name, const std::string& result) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", xml_attribute(group),
                     xml_attribute(name), result);
}

/// The testcases of rule `i`: one for all configurations together, and one for each.
std::string testcases_of(const Comparison& comparison, std::size_t i) {
  const auto& rule = comparison.request.rules[i];
  const bool strict = comparison.request.strict;
  std::string text;
  if (const auto& all = comparison.together_of(i)) {
    text += testcase(kTogether, rule.text(), result_of(rule, *all, *comparison.together_outcomes[i], strict));
  }
  for (const auto& configuration : comparison.configurations) {
    text += testcase(report::group_title(configuration.trial),
                     fmt::format("split {}: {}", report::split_label(configuration.trial), rule.text()),
                     result_of(rule, comparison.change_of(configuration, i), configuration.outcomes[i], strict));
  }
  return text;
}

}  // namespace

std::string render_junit(const Comparison& comparison) {
  std::string testcases;
  for (std::size_t rule = 0; rule < comparison.request.rules.size(); ++rule) {
    testcases += testcases_of(comparison, rule);
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
