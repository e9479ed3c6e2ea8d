#include <paretopipe/diagnosis/render.hpp>
#include <paretopipe/diagnosis/sentences.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/markdown.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::diagnosis {
namespace {

std::string paragraph(const GroupDiagnosis& group, const ConfigurationDiagnosis& one) {
  return fmt::format("{}", fmt::join(sentences(group, one), " "));
}

std::string title(const GroupDiagnosis& group) {
  return report::printable(report::group_title(group.settings()));
}

}  // namespace

std::string render_text(std::span<const GroupDiagnosis> groups) {
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", title(group));
    for (const auto& one : group.configurations) {
      if (one.wanted) text += fmt::format("\n{}: {}\n", report::split_label(one.trial()), paragraph(group, one));
    }
    if (group.all_wanted()) text += fmt::format("\nConclusion: {}\n", conclusion(group));
  }
  return text;
}

std::string render_markdown(std::span<const GroupDiagnosis> groups) {
  using report::markdown_escaped;
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("{}### {}\n\n", text.empty() ? "" : "\n", markdown_escaped(title(group)));
    if (group.all_wanted()) text += fmt::format("{}\n\n", markdown_escaped(conclusion(group)));
    for (const auto& one : group.configurations) {
      if (!one.wanted) continue;
      text += fmt::format("- **{}**: {}\n", markdown_escaped(report::split_label(one.trial())),
                          markdown_escaped(paragraph(group, one)));
    }
  }
  return text;
}

}  // namespace paretopipe::diagnosis
