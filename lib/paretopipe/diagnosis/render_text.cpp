#include <paretopipe/core/units.hpp>
#include <paretopipe/diagnosis/render.hpp>
#include <paretopipe/diagnosis/sentences.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/markdown.hpp>
#include <paretopipe/report/table.hpp>

#include <fmt/format.h>

#include "words.hpp"

namespace paretopipe::diagnosis {
namespace {

constexpr std::size_t kShownRemarks = 5;

using Rows = std::vector<std::vector<std::string>>;

const std::vector<report::Table::Column> kColumns{{"part", report::Align::left},
                                                  {"a batch takes", report::Align::right},
                                                  {"share", report::Align::right},
                                                  {"bounds at", report::Align::right},
                                                  {"detail", report::Align::left}};

/// What a link carried, how fast it was and how fast it could be, or how long a batch's way round is.
std::string detail(const Constraint& constraint, const Demands& demands) {
  if (constraint.kind == Kind::depth) {
    return fmt::format("{} in flight, {} round the ring", demands.in_flight, duration(demands.unqueued_ns()));
  }
  if (constraint.kind != Kind::link && constraint.kind != Kind::way_back) return "";
  const auto& link = demands.links.at(static_cast<std::size_t>(constraint.stage));
  auto text = bytes(static_cast<double>(link.payload_bytes));
  if (constraint.period_ns <= 0) return text;
  const auto carried = static_cast<double>(link.payload_bytes + link.header_bytes);
  text += fmt::format(" at {}bit/s", format_count(carried * 8e9 / constraint.period_ns));
  if (!link.rate_bit_per_s) return text;
  return fmt::format("{} of {}bit/s", text, format_count(static_cast<double>(*link.rate_bit_per_s)));
}

std::string without_article(const std::string& name) {
  return name.starts_with("the ") ? name.substr(4) : name;
}

/// One row per possible bound, slowest first. Only parts that are busy have a share of the time.
Rows part_rows(const ConfigurationDiagnosis& one) {
  Rows rows;
  for (const auto& constraint : one.bounds) {
    const double ns = constraint.period_ns;
    rows.push_back({without_article(name_of(constraint)), duration(ns),
                    constraint.kind == Kind::depth ? "" : percent(ns / one.demands->period_ns()),
                    ns > 0 ? rate(throughput_at(*one.demands, ns)) : "", detail(constraint, *one.demands)});
  }
  return rows;
}

std::vector<std::string> shown_remarks(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  auto all = remarks(group, one);
  if (all.size() > kShownRemarks) all.resize(kShownRemarks);
  return all;
}

std::string title(const GroupDiagnosis& group) {
  return report::printable(report::group_title(group.settings()));
}

std::string section(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  auto text = fmt::format("\n{}: {}\n", report::split_label(one.trial()), headline(group, one));
  if (!one.bounds.empty()) {
    report::Table table(kColumns);
    for (auto& row : part_rows(one)) table.add_row(std::move(row));
    text += '\n' + table.to_text({.unicode = false}) + '\n';
  }
  for (const auto& remark : shown_remarks(group, one)) text += fmt::format("  - {}\n", remark);
  return text;
}

std::string markdown_section(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  using report::markdown_escaped;
  auto text = fmt::format("**{}**: {}\n\n", markdown_escaped(report::split_label(one.trial())),
                          markdown_escaped(headline(group, one)));
  if (!one.bounds.empty()) text += report::markdown_table(kColumns, part_rows(one)) + '\n';
  const auto shown = shown_remarks(group, one);
  for (const auto& remark : shown) text += fmt::format("- {}\n", markdown_escaped(remark));
  return shown.empty() ? text : text + '\n';
}

}  // namespace

std::string render_text(std::span<const GroupDiagnosis> groups) {
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", title(group));
    for (const auto& one : group.configurations) {
      if (one.wanted) text += section(group, one);
    }
    if (group.all_wanted()) text += fmt::format("\nConclusion: {}\n", conclusion(group));
  }
  return text;
}

std::string render_markdown(std::span<const GroupDiagnosis> groups) {
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("### {}\n\n", report::markdown_escaped(title(group)));
    if (group.all_wanted()) text += fmt::format("{}\n\n", report::markdown_escaped(conclusion(group)));
    for (const auto& one : group.configurations) {
      if (one.wanted) text += markdown_section(group, one);
    }
  }
  return text;
}

}  // namespace paretopipe::diagnosis
